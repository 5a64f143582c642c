package io.mortise.it.waiting;

import static io.mortise.it.support.Eventually.holdsFor;
import static io.mortise.it.support.SharedRedis.assertIdle;
import static io.mortise.it.support.SharedRedis.freshName;
import static io.mortise.it.support.SharedRedis.warm;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.FaultProxy;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The first in the line, whose outage timeout is over, does not keep the others from finding out: a
 * bounded wait goes to the end of the line, and an unbounded one ends.
 */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class MoveToTailTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final Duration PATIENCE = Duration.ofSeconds(3);

  private final String name = freshName();
  private FaultProxy proxy;
  private LockClient client;
  private RedisLock lock;

  @BeforeEach
  void open() {
    proxy = FaultProxy.to(redis.server());
    // An attempt that was cut off is watched for until its lease is over: 2 s.
    client =
        LockClient.create(
            proxy.uri(),
            LockOptions.builder()
                .outageTimeout(PATIENCE)
                .lease(Duration.ofSeconds(2))
                .subscriptionLinger(Duration.ZERO)
                .build());
    lock = new RedisLock(client, name);
    warm(client);
  }

  @AfterEach
  void nothingIsLeft() {
    assertIdle(client);
    client.close();
    proxy.close();
    assertFalse(redis.exists(name), "nothing stays held");
  }

  /** Redis is gone, and the first has tried for half of its patience when the second comes. */
  private AsyncCall<Boolean> secondBehind(AsyncCall<?> first) {
    first.awaitParked();
    holdsFor(PATIENCE.dividedBy(2), "the first tries", () -> !first.isDone());
    AsyncCall<Boolean> second =
        AsyncCall.start(
            () -> {
              boolean got = lock.tryLock(Duration.ofHours(1));
              lock.unlock();
              return got;
            });
    second.awaitQueued();
    return second;
  }

  @Test
  void aBoundedWaitGoesToTheEndAndAnInterruptEndsItThere() throws Exception {
    proxy.cut();
    AsyncCall<Boolean> first = AsyncCall.start(() -> lock.tryLock(Duration.ofHours(1)));
    AsyncCall<Boolean> second = secondBehind(first);
    first.awaitQueued(); // for the other half of the second's patience

    first.interrupt();

    assertThrows(InterruptedException.class, first::get);
    proxy.restore();
    assertTrue(second.get(), "and the line goes on");
  }

  @Test
  void anUnboundedWaitEndsWithItsOutageTimeoutWhoeverWaitsBehind() throws Exception {
    proxy.cut();
    AsyncCall<Boolean> first =
        AsyncCall.start(
            () -> {
              lock.lock();
              return true;
            });
    AsyncCall<Boolean> second = secondBehind(first);

    LockException thrown = assertThrows(LockException.class, first::get);

    assertTrue(thrown.getMessage().contains("LockOptions.outageTimeout, PT3S"), thrown::getMessage);
    proxy.restore();
    assertTrue(second.get(), "and the line goes on");
  }
}
