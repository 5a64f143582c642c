package io.mortise.core.internal.handoff;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Ticker;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.composite.LeaseGroup;
import io.mortise.core.internal.acquire.AcquireContext;
import io.mortise.core.internal.engine.FakeProtocol;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.engine.TestClients;
import io.mortise.core.internal.lease.AttemptStart;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.LockId;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.internal.lease.ReleaseFairness;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.FakeSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;
import io.mortise.scripts.Script;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The users of a shared hold that is lost. */
@Timeout(60)
class SharedLeaseTest {
  private static final String RELEASE = new String(Script.load("lock/release").sha1(), UTF_8);
  private static final Duration LEASE = Duration.ofMinutes(10);
  private static final LeaseTerms TERMS =
      LeaseTerms.of(LockOptions.defaults(), Duration.ZERO, LEASE, false);

  @AutoClose private final LockClient client = LockClient.create("redis://127.0.0.1:1");

  private RedisLease lostHold() {
    LeaseContext context = ((RedisLockClient) client).context().lease();
    return hold(context, context.nanos() - LEASE.multipliedBy(2).toNanos());
  }

  private static RedisLease hold(LeaseContext context, long sentNanos) {
    return hold(context, sentNanos, TERMS);
  }

  private static RedisLease hold(LeaseContext context, long sentNanos, LeaseTerms terms) {
    return RedisLease.granted(
        context,
        new FakeProtocol("orders"),
        "client:1",
        new AcquireResult.Acquired(1, 0),
        null,
        terms,
        new AttemptStart(sentNanos, context.holds().epoch()));
  }

  private static SharedHold shared(
      LeaseContext context, RedisLease base, Consumer<SharedHold> onClosed) {
    return new SharedHold(
        context.ticker(), context.closing(), LockOptions.defaults().tuning(), base, onClosed);
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

  /** The loss starts the worker that notifies the user; that may have to wait for a lock. */
  @Test
  void aHoldWhoseEndAJoiningThreadNoticesIsLostOutsideOfTheMonitor() {
    AtomicReference<SharedHold> joined = new AtomicReference<>();
    List<Boolean> underMonitor = new CopyOnWriteArrayList<>();
    RespServer server = new RespServer(command -> RespServer.integers(List.of(1L, 0L)));
    RedisLockClient connected =
        TestClients.of(
            server,
            LockOptions.defaults(),
            (task, name) -> {
              if (joined.get() != null) {
                underMonitor.add(Thread.holdsLock(joined.get()));
              }
              return new Thread(task, name);
            },
            new ReleaseFairness(0));
    try {
      LeaseContext context = connected.context().lease();
      RedisLease base = hold(context, context.nanos() - LEASE.multipliedBy(2).toNanos());
      SharedHold shared = shared(context, base, closed -> {});
      shared.begin(new FakeSource("orders"), null);
      joined.set(shared);

      assertNull(shared.join(new FakeSource("orders"), TERMS, null));

      joined.set(null);
      assertEquals(List.of(false), underMonitor);
    } finally {
      connected.close();
      server.close();
    }
  }

  /** A forced release returns between the first look at the hold and the addition of the user. */
  @Test
  void aThreadDoesNotEnterByAHoldThatWasForcedWhileItJoined() {
    AcquireContext acquisitions = ((RedisLockClient) client).context();
    LeaseContext context = acquisitions.lease();
    LeaseTerms renewed = LeaseTerms.of(LockOptions.defaults(), Duration.ZERO, null, false);
    RedisLease base = hold(context, context.nanos(), renewed);
    AtomicReference<Runnable> meanwhile = new AtomicReference<>(() -> {});
    Ticker ticker =
        new Ticker() {
          @Override
          public long read() {
            meanwhile.getAndSet(() -> {}).run();
            return context.nanos();
          }
        };
    LockProtocol protocol = sharing(new FakeProtocol("orders"));
    SharedHolds holds = new SharedHolds(ticker, context.closing(), LockOptions.defaults().tuning());
    SharedHold shared = holds.begin(LockId.of(protocol), base);
    shared.begin(new FakeSource("orders"), null).startWatching();
    holds.makeJoinable(LockId.of(protocol), shared);
    LocalHandOff joining =
        new LocalHandOff(
            context,
            holds,
            acquisitions.runWaiters(),
            new FakeSource("orders"),
            protocol,
            renewed,
            null,
            new QueueTicket(context.ticker(), context.releases(), acquisitions.queues(), protocol));
    meanwhile.set(() -> base.lose(Reason.FORCED, context.nanos(), "on purpose"));

    assertNull(joining.takeOffered(0));

    assertEquals(State.LOST, base.state());
  }

  private static LockProtocol sharing(LockProtocol protocol) {
    return (LockProtocol)
        Proxy.newProxyInstance(
            SharedLeaseTest.class.getClassLoader(),
            new Class<?>[] {LockProtocol.class},
            (proxy, method, arguments) ->
                method.getName().equals("allowsSharing")
                    ? (Object) true
                    : method.invoke(protocol, arguments));
  }

  /** As one of a hold of its own does; the command timeout may be much longer. */
  @Test
  void itsTokenIsRaisedWithinTheWaitOfTheGroup() {
    RespServer silent = new RespServer(command -> RespServer.SILENCE);
    RedisLockClient patient =
        TestClients.of(
            silent, LockOptions.builder().lease(LEASE).commandTimeout(LEASE.dividedBy(2)).build());
    try {
      LeaseContext context = patient.context().lease();
      SharedHold shared = shared(context, hold(context, context.nanos()), closed -> {});
      List<SharedLease> part = List.of(shared.begin(new FakeSource("orders"), null));
      LeaseTerms waiting =
          LeaseTerms.of(LockOptions.defaults(), Duration.ofMillis(100), LEASE, false);

      LockException thrown =
          assertTimeoutPreemptively(
              BackgroundCall.LIVENESS,
              () ->
                  assertThrows(
                      LockException.class,
                      () -> LeaseGroup.raiseTokens(part, 50, waiting, () -> 0)));

      assertEquals(LockException.Reason.UNREACHABLE, thrown.reason());
    } finally {
      silent.close();
      patient.close();
    }
  }

  /** As a member of a hold that is lost: one user leaves, and the last one has it released. */
  @Test
  void theHoldIsReleasedInTheBackgroundForItsLastUserOnly() {
    RespServer server = new RespServer(command -> RespServer.integers(List.of(1L, 0L)));
    RedisLockClient connected = TestClients.of(server, LockOptions.defaults());
    try {
      LeaseContext context = connected.context().lease();
      RedisLease base = hold(context, context.nanos());
      SharedHold shared = shared(context, base, closed -> {});
      SharedLease first = shared.begin(new FakeSource("orders"), null);
      SharedLease second = shared.begin(new FakeSource("orders"), null);

      first.releaseInBackground();
      assertEquals(State.RELEASED, first.state());
      assertTrue(second.isValid());
      assertTrue(base.isLive());
      second.releaseInBackground();

      assertFalse(base.isLive());
      await()
          .atMost(BackgroundCall.LIVENESS)
          .until(() -> server.heard().stream().anyMatch(call -> call.get(1).equals(RELEASE)));
    } finally {
      connected.close();
      server.close();
    }
  }

  /** The error comes in the middle of the last user's unlock, as when the stack overflows. */
  @Test
  void aHoldWhoseLastUserAnErrorHasInterruptedIsReleased() {
    RespServer server = new RespServer(command -> RespServer.integers(List.of(1L, 0L)));
    RedisLockClient connected = TestClients.of(server, LockOptions.defaults());
    try {
      AtomicInteger closings = new AtomicInteger();
      LeaseContext context = connected.context().lease();
      RedisLease base = hold(context, context.nanos());
      SharedHold shared =
          shared(
              context,
              base,
              closed -> {
                if (closings.incrementAndGet() == 1) {
                  throw new StackOverflowError("on purpose");
                }
              });
      SharedLease lease = shared.begin(new FakeSource("orders"), null);
      lease.startWatching();

      assertThrows(StackOverflowError.class, lease::release);

      await()
          .atMost(BackgroundCall.LIVENESS)
          .until(() -> server.heard().stream().anyMatch(call -> call.get(1).equals(RELEASE)));
    } finally {
      connected.close();
      server.close();
    }
  }
}
