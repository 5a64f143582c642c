package io.mortise.it.waiting;

import static io.mortise.it.support.Elapsed.millisOf;
import static io.mortise.it.support.Eventually.until;
import static io.mortise.it.support.SharedRedis.freshName;
import static io.mortise.it.support.SharedRedis.warm;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.Direction;
import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Pitfall 1: a wait that is bounded ends, with an error, whatever the network does; and leaves
 * nothing held. A command may take 10 s here, so that only the wait can be what ends it.
 */
@Timeout(60)
class BoundedWaitTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final Duration WAIT = Duration.ofMillis(400);
  private static final long MOST_MILLIS = 1_800;

  /** What happens to requests and replies. */
  enum Fault {
    SERVER_PAUSED(proxy -> redis.server().pause()),
    REPLIES_SWALLOWED(proxy -> proxy.swallow(Direction.TO_CLIENT)),
    REQUESTS_SWALLOWED(proxy -> proxy.swallow(Direction.TO_SERVER)),
    CONNECTIONS_CUT(FaultProxy::cut),
    NEW_CONNECTIONS_HELD(FaultProxy::holdNewConnections),
    BOTH_DELAYED(proxy -> proxy.delay(Duration.ofHours(1)));

    @SuppressWarnings("ImmutableEnumChecker") // lambdas without state
    final Consumer<FaultProxy> begin;

    Fault(Consumer<FaultProxy> begin) {
      this.begin = begin;
    }
  }

  private final String name = freshName();
  private FaultProxy proxy;
  private LockClient client;
  private RedisLock lock;

  @BeforeEach
  void open() {
    proxy = FaultProxy.to(redis.server());
    client =
        LockClient.create(
            proxy.uri(), LockOptions.builder().commandTimeout(Duration.ofSeconds(10)).build());
    lock = new RedisLock(client, name);
  }

  @AfterEach
  void nothingIsHeld() {
    proxy.restore();
    redis.server().resume();
    until("nothing is held", () -> !redis.exists(name));
    client.close();
    proxy.close();
  }

  private void assertBounded() throws Exception {
    long millis =
        millisOf(
            () -> {
              LockException thrown = assertThrows(LockException.class, () -> lock.tryLock(WAIT));
              assertEquals(Reason.UNREACHABLE, thrown.reason(), thrown.getMessage());
              return true;
            });
    assertTrue(
        millis >= WAIT.toMillis() - 5 && millis < MOST_MILLIS, () -> "it took " + millis + " ms");
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
    warm(client);
    fault.begin.accept(proxy);
    assertBounded();
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NEW_CONNECTIONS_HELD")
  void afterTheFirstAttemptWasAnswered(Fault fault) throws Exception {
    warm(client);
    redis.holdAsStranger(name, 300);
    AsyncCall<Long> waiter =
        AsyncCall.start(
            () ->
                millisOf(
                    () ->
                        assertThrows(
                            LockException.class, () -> lock.tryLock(Duration.ofMillis(900)))));
    until("it is subscribed", () -> redis.subscribers(name) == 1);
    waiter.awaitParked();

    fault.begin.accept(proxy);

    long millis = waiter.get();
    assertTrue(millis < MOST_MILLIS + 500, () -> "it took " + millis + " ms");
  }
}
