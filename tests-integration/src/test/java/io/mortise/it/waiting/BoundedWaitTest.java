package io.mortise.it.waiting;

import static io.mortise.it.support.Elapsed.millisOf;
import static io.mortise.it.support.Elapsed.runningMillisOf;
import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.Direction;
import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A bounded wait ends with an error, whatever the network does, and leaves no hold. A command may
 * take 10 s here, so that only the wait can end it.
 */
@Timeout(60)
class BoundedWaitTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final Duration WAIT = Duration.ofMillis(400);
  private static final long MAX_MILLIS = 1_800;

  /** A fault of the server or of the network. */
  enum Fault {
    SERVER_PAUSED(proxy -> redis.server().pause()),
    REPLIES_SWALLOWED(proxy -> proxy.blackhole(Direction.TO_CLIENT)),
    REQUESTS_SWALLOWED(proxy -> proxy.blackhole(Direction.TO_SERVER)),
    CONNECTIONS_CUT(FaultProxy::cut),
    NEW_CONNECTIONS_HELD(FaultProxy::holdNewConnections),
    BOTH_DELAYED(proxy -> proxy.delay(Duration.ofHours(1)));

    @SuppressWarnings("ImmutableEnumChecker") // lambdas without state
    final Consumer<FaultProxy> begin;

    Fault(Consumer<FaultProxy> begin) {
      this.begin = begin;
    }
  }

  @RegisterExtension
  final LockFixture tested =
      LockFixture.proxied(redis, LockOptions.builder().commandTimeout(Duration.ofSeconds(10)));

  private final String name = tested.name();
  private final FaultProxy proxy = tested.proxy();
  private final RedisLock lock = tested.lock();

  @AfterEach
  void nothingIsHeld() {
    proxy.restore();
    redis.server().resume();
    until("nothing is held", () -> !redis.exists(name));
  }

  private void assertBounded() throws Exception {
    long[] all = new long[1];
    long running =
        runningMillisOf(
            () ->
                all[0] =
                    millisOf(
                        () -> {
                          LockException thrown =
                              assertThrows(LockException.class, () -> lock.tryLock(WAIT));
                          assertEquals(Reason.UNREACHABLE, thrown.reason(), thrown.getMessage());
                        }));
    assertTrue(
        all[0] >= WAIT.toMillis() - 5 && running < MAX_MILLIS,
        () -> "it took %d ms, %d of them running".formatted(all[0], running));
  }

  @ParameterizedTest
  @EnumSource
  void onANewConnection(Fault fault) throws Exception {
    fault.begin.accept(proxy);
    assertBounded();
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NEW_CONNECTIONS_HELD")
  void onAConnectionOfThePool(Fault fault) throws Exception {
    tested.warm();
    fault.begin.accept(proxy);
    assertBounded();
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NEW_CONNECTIONS_HELD")
  void afterTheFirstAttemptWasAnswered(Fault fault) throws Exception {
    tested.warm();
    redis.holdAsStranger(name, 3_000); // the fault begins before that, and the wait ends later
    AsyncCall<Long> waiter =
        AsyncCall.start(
            () ->
                runningMillisOf(
                    () ->
                        assertThrows(
                            LockException.class, () -> lock.tryLock(Duration.ofMillis(3_600)))));
    redis.awaitSubscriber(name);
    waiter.awaitParked();

    fault.begin.accept(proxy);

    long millis = waiter.get();
    assertTrue(millis < MAX_MILLIS + 3_200, () -> "it took " + millis + " ms");
  }
}
