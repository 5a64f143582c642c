package io.mortise.it.faults;

import static io.mortise.it.faults.Background.holdsFor;
import static io.mortise.it.faults.SharedRedis.assertIdle;
import static io.mortise.it.faults.SharedRedis.freshName;
import static io.mortise.it.faults.SharedRedis.warm;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
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
class StepBackTest {
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
  private Background<Boolean> secondBehind(Background<?> first) {
    first.awaitParked();
    holdsFor(PATIENCE.dividedBy(2), "the first tries", () -> !first.isDone());
    Background<Boolean> second =
        Background.start(
            () -> {
              boolean got = lock.tryLock(Duration.ofHours(1));
              lock.unlock();
              return got;
            });
    second.awaitInLine();
    return second;
  }

  @Test
  void aBoundedWaitGoesToTheEndAndAnInterruptEndsItThere() throws Exception {
    proxy.cut();
    Background<Boolean> first = Background.start(() -> lock.tryLock(Duration.ofHours(1)));
    Background<Boolean> second = secondBehind(first);
    first.awaitInLine(); // for the other half of the second's patience

    first.interrupt();

    assertThrows(InterruptedException.class, first::get);
    proxy.restore();
    assertTrue(second.get(), "and the line goes on");
  }

  @Test
  void anUnboundedWaitEndsWithItsOutageTimeoutWhoeverWaitsBehind() throws Exception {
    proxy.cut();
    Background<Boolean> first =
        Background.start(
            () -> {
              lock.lock();
              return true;
            });
    Background<Boolean> second = secondBehind(first);

    LockException thrown = assertThrows(LockException.class, first::get);

    assertTrue(thrown.getMessage().contains("LockOptions.outageTimeout, PT3S"), thrown::getMessage);
    proxy.restore();
    assertTrue(second.get(), "and the line goes on");
  }
}
