package io.mortise.core.internal.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.FakeTicker;
import io.mortise.core.Lease;
import io.mortise.core.Lease.State;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.engine.FakeProtocol;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.LeakDetectingLease;
import io.mortise.core.spi.LeaseTerms;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** A release whose reply is late: Redis may have given the lock to the next holder before it. */
class LateReleaseTest {
  private static final Duration LEASE = Duration.ofSeconds(30);

  @AutoClose
  private final RedisLockClient client = (RedisLockClient) LockClient.create("redis://127.0.0.1:1");

  private final FakeTicker ticker = new FakeTicker();
  private final LeaseContext context = TestContext.unsent(client.context().lease(), ticker);
  private final RedisLease hold =
      RedisLease.granted(
          context,
          new FakeProtocol("orders"),
          "holder",
          new AcquireResult.Acquired(1, 0),
          null,
          LeaseTerms.of(LockOptions.defaults(), Duration.ZERO, LEASE, true),
          new AttemptStart(ticker.read(), context.holds().epoch()));
  private final Lease handle = new LeakDetectingLease(hold, false, Runnable::run);

  @Test
  void theHoldIsValidUntilItsTimeIsOver() {
    assertTrue(hold.releasing().begin());
    assertTrue(handle.isValid());
    assertEquals(State.HELD, handle.state());
    assertThrows(IllegalMonitorStateException.class, handle::ensureValid);

    ticker.advance(LEASE.toNanos());

    assertFalse(handle.isValid());
    assertEquals(Duration.ZERO, handle.remaining());
    hold.releasing().ensureEnded();
    assertEquals(State.RELEASED, handle.state());
  }
}
