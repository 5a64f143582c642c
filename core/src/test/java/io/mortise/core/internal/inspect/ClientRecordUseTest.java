package io.mortise.core.internal.inspect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.concurrent.ClosingState;
import io.mortise.connection.testing.FakeTicker;
import io.mortise.core.LockClient;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.lease.LeaseContext;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When the record of a client is due. Nothing is written: the client is closed. */
class ClientRecordUseTest {
  private static final long AN_HOUR = Duration.ofHours(1).toNanos();

  private final LockClient client = LockClient.create("redis://127.0.0.1:1");
  private final FakeTicker ticker = new FakeTicker();
  private Runnable duringLook = () -> {};
  private final ClientRecord record = record(((RedisLockClient) client).context().lease());

  private ClientRecord record(LeaseContext context) {
    ClosingState closed = new ClosingState();
    closed.begin();
    return new ClientRecord(
        "id",
        Instant.EPOCH,
        context.commands(),
        context.scheduler(),
        context.tasks(),
        context.operations(),
        closed,
        ticker,
        this::findsNoLockInUse);
  }

  private boolean findsNoLockInUse() {
    duringLook.run();
    return false;
  }

  @AfterEach
  void close() {
    client.close();
  }

  private long leftNanos() {
    return record.dueNanos() - ticker.read();
  }

  private void look() {
    ticker.advance(leftNanos());
    record.onDue(ticker.read());
  }

  @Test
  void anIdleClientIsNotLookedAtUntilItsNextUse() {
    record.used();
    assertEquals(ClientRecord.FIRST_NANOS, leftNanos());
    look();
    assertEquals(ClientRecord.INTERVAL_NANOS, leftNanos());
    look();
    assertTrue(leftNanos() > AN_HOUR);

    record.used();

    assertEquals(ClientRecord.FIRST_NANOS, leftNanos());
  }

  @Test
  void aUseDuringTheLookThatFindsTheClientIdleIsNotMissed() {
    record.used();
    look();
    duringLook = record::used;

    look();

    assertEquals(ClientRecord.FIRST_NANOS, leftNanos());
  }
}
