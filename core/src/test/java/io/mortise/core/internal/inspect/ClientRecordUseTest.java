package io.mortise.core.internal.inspect;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.FakeTicker;
import io.mortise.connection.testing.RespServer;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.engine.TestClients;
import io.mortise.core.internal.lease.LeaseContext;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When the record of a client is written. */
@Timeout(60)
class ClientRecordUseTest {
  private static final int LOOKS_IN_AN_INTERVAL =
      (int) (ClientRecord.INTERVAL_NANOS / ClientRecord.PERIOD_NANOS);

  private volatile String answer = RespServer.OK;
  private final RespServer server = new RespServer(command -> answer);
  private final RedisLockClient client = TestClients.of(server, LockOptions.defaults());
  private final FakeTicker ticker = new FakeTicker();
  private long acquisitions;
  private boolean inUse;
  private final ClientRecord record = record(client.context().lease());

  private ClientRecord record(LeaseContext context) {
    return new ClientRecord(
        "id",
        Instant.EPOCH,
        context.commands(),
        context.tasks(),
        context.operations(),
        context.closing(),
        ticker,
        () -> acquisitions,
        () -> inUse);
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private void look() {
    ticker.advance(ClientRecord.PERIOD_NANOS);
    record.look();
  }

  private void look(int times) {
    for (int i = 0; i < times; i++) {
      look();
    }
  }

  private long written() {
    return server.heard().stream().filter(command -> command.get(0).equals("SET")).count();
  }

  /** Waits for the writings, of which there are no more when the client is closed. */
  private void assertWrittenInTheEnd(int times) {
    await().atMost(BackgroundCall.LIVENESS).until(() -> written() >= times);
    client.close();
    assertEquals(times, written());
  }

  @Test
  void aClientThatIsUsedWritesItAtTheNextLookAndOnceInAnInterval() {
    look(3);
    acquisitions++;
    look();
    for (int i = 1; i < LOOKS_IN_AN_INTERVAL; i++) {
      acquisitions++;
      look();
    }
    assertWrittenInTheEnd(1);
  }

  @Test
  void aClientThatIsUsedWritesItAgainAfterAnInterval() {
    acquisitions++;
    look();
    acquisitions++; // during the interval
    look(LOOKS_IN_AN_INTERVAL);

    assertWrittenInTheEnd(2);
  }

  @Test
  void aClientThatOnlyHoldsALockWritesItToo() {
    inUse = true;
    look(1 + LOOKS_IN_AN_INTERVAL);

    assertWrittenInTheEnd(2);
  }

  @Test
  void anIdleClientWritesItAtTheFirstLookAfterItsNextUse() {
    acquisitions++;
    look(5 * LOOKS_IN_AN_INTERVAL);
    acquisitions++;
    look();

    assertWrittenInTheEnd(2);
  }

  @Test
  void aWritingThatFailsIsRepeatedAtTheNextLook() {
    answer = RespServer.error("LOADING Redis is loading the dataset in memory");
    inUse = true;
    look();
    await().atMost(BackgroundCall.LIVENESS).until(() -> written() == 1);
    client.context().lease().operations().awaitZero(BackgroundCall.LIVENESS.toNanos());
    answer = RespServer.OK;

    look();

    assertWrittenInTheEnd(2);
  }
}
