package io.mortise.core.internal.handoff;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.internal.engine.FakeProtocol;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.lease.AttemptStart;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.FakeSource;
import io.mortise.core.spi.LeaseTerms;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The users of a shared hold that is lost. */
@Timeout(60)
class SharedLeaseTest {
  private static final Duration LEASE = Duration.ofMinutes(10);

  @AutoClose private final LockClient client = LockClient.create("redis://127.0.0.1:1");

  private RedisLease lostHold() {
    LeaseContext context = ((RedisLockClient) client).context().lease();
    long sentNanos = context.nanos() - LEASE.multipliedBy(2).toNanos();
    return RedisLease.granted(
        context,
        new FakeProtocol("orders"),
        "client:1",
        new AcquireResult.Acquired(1, 0),
        null,
        LeaseTerms.of(client.options(), Duration.ZERO, LEASE, false),
        new AttemptStart(sentNanos, context.holds().epoch()));
  }

  /** Fails the first time that a user leaves. */
  private static final class FragileUsers implements SharedLease.Users {
    private final AtomicInteger calls = new AtomicInteger();

    @Override
    public boolean needsVerification(SharedLease leaving) {
      return false;
    }

    @Override
    public boolean leave(SharedLease lease) {
      if (calls.incrementAndGet() == 1) {
        throw new OutOfMemoryError("on purpose");
      }
      return true;
    }
  }

  @Test
  void aUserThatAnErrorHasKeptInALostHoldLeavesItWhenItReleases() {
    FragileUsers users = new FragileUsers();
    SharedLease lease =
        new SharedLease(
            new FakeSource("orders"), lostHold(), users, Thread.currentThread(), 0, false);
    assertThrows(OutOfMemoryError.class, lease::state);
    int before = users.calls.get();

    assertThrows(LeaseLostException.class, lease::release);

    assertEquals(before + 1, users.calls.get());
  }
}
