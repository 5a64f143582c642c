package io.mortise.core.internal.lease;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Ticker;
import com.google.common.util.concurrent.Uninterruptibles;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.engine.FakeProtocol;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.engine.TestClients;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import io.mortise.scripts.Script;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The holds of a group are released by one command each. */
@Timeout(60)
class GroupReleaseTest {
  private static final Duration LEASE = Duration.ofMinutes(10);
  private static final Duration LONGER = LEASE.multipliedBy(2);
  private static final String RELEASE = new String(Script.load("lock/release").sha1(), UTF_8);
  private static final String CONFIRMED = RespServer.integers(List.of(1L));
  private static final String CONFIRMED_TO_NOBODY = RespServer.integers(List.of(1L, 0L));
  private static final String MISSING = RespServer.integers(List.of(0L, 0L));

  private final RespServer server = new RespServer(this::answer);
  private final RedisLockClient client = TestClients.of(server, LockOptions.defaults());
  private volatile long aheadNanos;
  private final Ticker ticker =
      new Ticker() {
        @Override
        public long read() {
          return Ticker.systemTicker().read() + aheadNanos;
        }
      };
  private final LeaseContext context =
      new TestContext(client.context().lease()).ticker(ticker).build();

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  /** A release finds that the lease has just run out. */
  private String answer(List<String> command) {
    if (!command.get(1).equals(RELEASE)) {
      return CONFIRMED;
    }
    aheadNanos = LONGER.toNanos();
    return MISSING;
  }

  private RedisLease held(LeaseContext of) {
    return RedisLease.granted(
        of,
        new FakeProtocol("orders"),
        "holder",
        new AcquireResult.Acquired(42, 0),
        null,
        new LeaseTerms(0, LEASE.toMillis(), false, false),
        AttemptStart.now(of.holds(), of.ticker()));
  }

  /** The first server answers when the other one has heard its release. */
  private void releasesAtBoth(WorkerPool.NamedThreadFactory threads, boolean atOnce) {
    CountDownLatch released = new CountDownLatch(atOnce ? 1 : 0);
    try (RespServer first = new RespServer(command -> confirmedAfter(released));
        RespServer second =
            new RespServer(
                command -> {
                  released.countDown();
                  return CONFIRMED_TO_NOBODY;
                });
        RedisLockClient ofFirst =
            TestClients.of(first, LockOptions.defaults(), threads, new ReleaseFairness(0));
        RedisLockClient ofSecond =
            TestClients.of(second, LockOptions.defaults(), threads, new ReleaseFairness(0))) {
      List<RedisLease> leases =
          Stream.of(ofFirst, ofSecond).map(each -> held(each.context().lease())).toList();

      assertEquals(List.of(), GroupRelease.run(leases, GroupTimeout.OF_COMMANDS));

      assertTrue(leases.stream().noneMatch(RedisLease::isLive));
      assertEquals(0, ofFirst.status().pendingReleases() + ofSecond.status().pendingReleases());
    }
  }

  private static String confirmedAfter(CountDownLatch released) {
    var unused = Uninterruptibles.awaitUninterruptibly(released, BackgroundCall.LIVENESS);
    return CONFIRMED_TO_NOBODY;
  }

  @Test
  void aServerThatIsSilentKeepsNoHoldOfAnotherClient() {
    releasesAtBoth(Thread::new, true);
  }

  @Test
  void withoutAWorkerTheCallerSends() {
    releasesAtBoth(
        (task, name) -> {
          if (name.contains("worker")) {
            throw new OutOfMemoryError("unable to create native thread (on purpose)");
          }
          return new Thread(task, name);
        },
        false);
  }

  /** As a RedLock does, which is a member of a MultiLock. */
  @Test
  void aServerThatIsSilentKeepsNoHoldThatHasItsOwnWayToRelease() {
    CountDownLatch released = new CountDownLatch(1);
    try (RespServer silent = new RespServer(command -> confirmedAfter(released));
        RedisLockClient ofSilent = TestClients.of(silent, LockOptions.defaults())) {
      OwnedLease composite =
          (OwnedLease)
              Proxy.newProxyInstance(
                  OwnedLease.class.getClassLoader(),
                  new Class<?>[] {OwnedLease.class},
                  (proxy, method, arguments) -> {
                    released.countDown();
                    return null;
                  });

      assertEquals(
          List.of(),
          GroupRelease.run(
              List.of(held(ofSilent.context().lease()), composite), GroupTimeout.OF_COMMANDS));
    }
  }

  /** A worker releases what several threads share, and the caller learns what ended that. */
  @Test
  void anErrorOnAWorkerEndsTheRelease() {
    Error error = new StackOverflowError("on purpose");
    List<String> stopped = new CopyOnWriteArrayList<>();
    try (RedisLockClient other = TestClients.of(server, LockOptions.defaults())) {
      List<RedisHold> leases =
          List.of(
              shared("orders", context, () -> {}, stopped),
              shared(
                  "invoices",
                  other.context().lease(),
                  () -> {
                    throw error;
                  },
                  stopped));

      assertSame(
          error,
          assertThrows(
              StackOverflowError.class, () -> GroupRelease.run(leases, GroupTimeout.OF_COMMANDS)));

      assertEquals(List.of("orders", "invoices"), stopped);
    }
  }

  private static RedisHold shared(
      String name, LeaseContext of, Runnable release, List<String> stopped) {
    return (RedisHold)
        Proxy.newProxyInstance(
            RedisHold.class.getClassLoader(),
            new Class<?>[] {RedisHold.class},
            (proxy, method, arguments) -> {
              switch (method.getName()) {
                case "context" -> {
                  return of;
                }
                case "release" -> release.run();
                case "stopRenewal" -> stopped.add(name);
                default -> throw new UnsupportedOperationException(method.getName());
              }
              return null;
            });
  }

  private RedisLease extended(String name) {
    RedisLease lease =
        RedisLease.granted(
            context,
            new FakeProtocol(name),
            "holder",
            new AcquireResult.Acquired(42, 0),
            null,
            new LeaseTerms(0, LEASE.toMillis(), false, false),
            AttemptStart.now(context.holds(), ticker));
    lease.extendTo(new LeaseTerms(0, LONGER.toMillis(), false, false));
    return lease;
  }

  @Test
  void holdsThatRunOutMeanwhileAreNotReleasedTwice() {
    List<RedisLease> leases = Stream.of("orders", "invoices").map(this::extended).toList();

    List<RuntimeException> failures = GroupRelease.run(leases, GroupTimeout.OF_COMMANDS);

    await().atMost(BackgroundCall.LIVENESS).until(() -> context.releases().size() == 0);
    assertEquals(
        leases.size(),
        server.heard().stream().filter(command -> command.get(1).equals(RELEASE)).count());
    assertEquals(leases.size(), failures.size());
    for (RuntimeException failure : failures) {
      assertEquals(Reason.EXPIRED, ((LeaseLostException) failure).loss().reason());
    }
    assertTrue(leases.stream().noneMatch(RedisLease::isLive));
  }
}
