package io.mortise.multilock;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.composite.LeaseGroup;
import io.mortise.core.spi.CallerWait;
import io.mortise.core.spi.GroupAttemptResult;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** In which order members are acquired, and which are held during a wait. */
class MultiAcquisitionTest {
  private static final Duration WAIT = Duration.ofHours(1);
  private static final long MINUTE_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** The last member is busy, the first was acquired at once. */
  private static final List<Boolean> ROUND = List.of(true, false);

  /** As it goes on: the last is waited for, then the first is busy, then again as before. */
  private static final List<Boolean> NEXT_ROUND = List.of(true, false, true, false);

  private final List<String> steps = new ArrayList<>();
  private final LeaseSource first = source("first");
  private final LeaseSource last = source("last");
  private List<LeaseSource> members = List.of(first, last);
  private Class<? extends Throwable> expected = InterruptedException.class;

  /** Whether the next attempts are granted, by the order in which they come. */
  private final Deque<Boolean> grants = new ArrayDeque<>();

  /** The waits for the last member while the first is held, ms. */
  private final List<Long> holdingWaits = new ArrayList<>();

  /** How many of them end because the server does not answer. */
  private int unanswered;

  private Duration lease = Duration.ofMinutes(1);

  /** The name of the member that the thread holds already. */
  private String heldBefore = "";

  /** The hold of a granted attempt. */
  private Supplier<OwnedLease> leases = MultiAcquisitionTest::lease;

  private static LeaseSource source(String name) {
    return (LeaseSource)
        Proxy.newProxyInstance(
            LeaseSource.class.getClassLoader(),
            new Class<?>[] {LeaseSource.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "name", "toString" -> name;
                  case "options" -> LockOptions.defaults();
                  case "nanoTime" -> System.nanoTime();
                  case "random" -> Math.random();
                  case "canAcquireTogetherWith" -> proxy == arguments[0];
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }

  private static OwnedLease lease() {
    return (OwnedLease)
        Proxy.newProxyInstance(
            OwnedLease.class.getClassLoader(),
            new Class<?>[] {OwnedLease.class},
            (proxy, method, arguments) -> {
              throw new UnsupportedOperationException(method.getName());
            });
  }

  /** Returns a hold that is lost, as that method is the first to tell. */
  private static OwnedLease lost(String teller) {
    return lost(teller, new ArrayList<>());
  }

  private static OwnedLease lost(String teller, List<LeaseTerms> extensions) {
    LeaseLoss loss = new LeaseLoss("member", 1, Reason.FORCED, System.nanoTime(), "on purpose");
    return (OwnedLease)
        Proxy.newProxyInstance(
            OwnedLease.class.getClassLoader(),
            new Class<?>[] {OwnedLease.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "fencingToken", "lastToken" -> 1L;
                  case "raiseToken", "isValid" -> !method.getName().equals(teller);
                  case "remaining" ->
                      teller.equals("extendTo") ? Duration.ZERO : Duration.ofMinutes(1);
                  case "extendTo" -> {
                    extensions.add((LeaseTerms) arguments[0]);
                    throw new LeaseLostException(loss);
                  }
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }

  private static OwnedLease held() {
    return (OwnedLease)
        Proxy.newProxyInstance(
            OwnedLease.class.getClassLoader(),
            new Class<?>[] {OwnedLease.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "fencingToken", "lastToken" -> 1L;
                  case "raiseToken", "isValid" -> true;
                  case "state" -> State.HELD;
                  case "onChangeWhileHeld" -> (Runnable) () -> {};
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }

  /** Returns a hold that notes the token that it is raised to, and is lost then. */
  private static OwnedLease granted(long token, long lastToken, AtomicLong raisedTo) {
    return (OwnedLease)
        Proxy.newProxyInstance(
            OwnedLease.class.getClassLoader(),
            new Class<?>[] {OwnedLease.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "fencingToken" -> token;
                  case "lastToken" -> lastToken;
                  case "raiseToken" -> {
                    raisedTo.set((long) arguments[0]);
                    yield false;
                  }
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }

  /** Grants what the test says, and ends the acquisition when that is used up. */
  private final class Script implements MemberMode {
    @Override
    public boolean ownsByThread() {
      return false;
    }

    @Override
    public boolean isHeldByThread(LeaseSource member) {
      return member.name().equals(heldBefore);
    }

    @Override
    public @Nullable OwnedLease acquire(LeaseSource member, LeaseTerms terms)
        throws InterruptedException {
      steps.add((terms.waitNanos() > 1 ? "wait for " : "try ") + member.name());
      if (grants.isEmpty()) {
        throw new InterruptedException();
      }
      if (terms.waitNanos() > 1 && terms.waitNanos() < MINUTE_NANOS) {
        holdingWaits.add(TimeUnit.NANOSECONDS.toMillis(terms.waitNanos()));
        if (unanswered > 0) {
          unanswered--;
          grants.remove();
          throw new LockException(LockException.Reason.UNREACHABLE, "on purpose", null);
        }
      }
      return grants.remove() ? leases.get() : null;
    }

    @Override
    public GroupAttemptResult acquireTogether(List<LeaseSource> members, LeaseTerms terms) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void reenter(List<LeaseSource> members, LeaseTerms terms) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void exit(List<LeaseSource> members) {
      throw new UnsupportedOperationException();
    }

    @Override
    public List<RuntimeException> release(
        List<LeaseSource> from, List<OwnedLease> held, LeaseGroup.Releaser releaser) {
      from.forEach(member -> steps.add("release " + member.name()));
      return List.of();
    }

    @Override
    public void abandon(LeaseSource member, OwnedLease lease) {
      steps.add("abandon " + member.name());
    }
  }

  private void run(Boolean... granted) {
    grants.addAll(List.of(granted));
    LeaseTerms terms = LeaseTerms.of(LockOptions.defaults(), WAIT, lease, true);
    LeaseSource whole = source("whole");
    MultiAcquisition acquisition =
        new MultiAcquisition(
            whole, members, terms, new CallerWait(terms, whole), null, new Script());
    assertThrows(expected, acquisition::run);
  }

  @Test
  void membersAreAcquiredInTheirOrderAndReleasedWhenTheLastIsBusy() {
    run(true, false);

    assertEquals(List.of("wait for first", "try last", "release first", "wait for last"), steps);
  }

  @Test
  void theMembersBehindABusyOneAreReleasedBeforeTheWaitForIt() {
    run(true, false, true, false);

    assertEquals(
        List.of("try first", "release last", "wait for first"), steps.subList(4, steps.size()));
  }

  /**
   * The thread may have written with the token of the member that it held, server 1's clock ahead.
   */
  @Test
  void theTokenIsNotSmallerThanThatOfAMemberThatTheThreadHeldBefore() {
    heldBefore = "first";
    AtomicLong raisedTo = new AtomicLong();
    Iterator<Long> tokens = List.of(70L, 50L).iterator();
    leases = () -> granted(tokens.next(), 40, raisedTo);

    run(true, true);

    assertEquals(70, raisedTo.get());
  }

  @Test
  void theExtensionOfAMemberMayTakeTheRestOfTheWaitAndNotAllOfIt() {
    List<LeaseTerms> extensions = new ArrayList<>();
    leases = () -> lost("extendTo", extensions);

    run(true, true);

    long nanos = extensions.get(0).waitNanos();
    assertTrue(nanos > MINUTE_NANOS && nanos < WAIT.toNanos(), () -> nanos + " ns");
  }

  /** Nobody waits for it because of this acquisition, so the wait has no bound of its own. */
  @Test
  void aMemberThatTheThreadHeldBeforeIsKeptDuringTheWaitForABusyOne() {
    heldBefore = "last";

    run(true, false);

    assertEquals(
        List.of("wait for last", "wait for first", "release last", "wait for last"), steps);
  }

  @ParameterizedTest
  @ValueSource(strings = {"raiseToken", "extendTo", "isValid"})
  void aMemberThatWasLostBeforeTheLastIsAcquiredMeansAnotherRound(String teller) {
    leases = () -> lost(teller);

    run(true, true);

    assertEquals(
        List.of("wait for first", "try last", "release first", "release last", "wait for first"),
        steps);
  }

  @Test
  void anErrorInTheReleaseOfTheMembersAbandonsThem() {
    AtomicInteger errors = new AtomicInteger();
    members =
        new AbstractList<>() {
          @Override
          public LeaseSource get(int place) {
            if (grants.isEmpty() && errors.incrementAndGet() <= 2) { // in the round, in the release
              throw new OutOfMemoryError("on purpose");
            }
            return place == 0 ? first : last;
          }

          @Override
          public int size() {
            return 2;
          }
        };
    expected = OutOfMemoryError.class;

    run(true);

    assertEquals(List.of("wait for first", "abandon first"), steps);
  }

  /** Its interrupt may close a socket, and fail. */
  @Test
  void theMembersOfAThreadThatRefusesItsInterruptAreReleased() throws Exception {
    leases = MultiAcquisitionTest::held;
    grants.addAll(List.of(true, true));
    LeaseTerms terms = LeaseTerms.of(LockOptions.defaults(), WAIT, null, false);
    LeaseSource whole = source("whole");
    CallerWait wait = new CallerWait(terms, whole);
    Runnable acquisition =
        () -> {
          Thread.currentThread().interrupt();
          assertDoesNotThrow(wait::checkInterrupt);
          assertThrows(
              SecurityException.class,
              new MultiAcquisition(whole, members, terms, wait, null, new Script())::run);
          steps.add("thrown");
        };
    Thread thread =
        new Thread(acquisition) {
          @Override
          public void interrupt() {
            if (isCalledBy(CallerWait.class)) { // and not by a class loader
              throw new SecurityException("on purpose");
            }
            super.interrupt();
          }
        };
    thread.start();
    thread.join();

    assertEquals(
        List.of("wait for first", "try last", "release first", "release last", "thrown"), steps);
  }

  private static boolean isCalledBy(Class<?> caller) {
    return StackWalker.getInstance()
        .walk(frames -> frames.anyMatch(each -> each.getClassName().equals(caller.getName())));
  }

  private void runRounds(int rounds) {
    List<Boolean> granted = new ArrayList<>(ROUND);
    for (int i = 1; i < rounds; i++) {
      boolean afterSilence = i > 1 && i <= unanswered + 1; // the first round does not wait
      granted.addAll(afterSilence ? ROUND : NEXT_ROUND);
    }
    run(granted.toArray(Boolean[]::new));
  }

  @Test
  void aRoundInFourWaitsLongWhileHolding() {
    runRounds(10);

    assertEquals(List.of(25L, 50L, 200L, 25L, 50L, 800L, 25L), holdingWaits);
  }

  @Test
  void roundsWithoutAnAnswerMakeTheLaterWaitsLonger() {
    unanswered = 2;

    runRounds(10);

    assertEquals(List.of(25L, 50L, 200L, 100L, 100L, 100L, 800L, 100L, 100L), holdingWaits);
  }

  /** Else each wait would end with the first member lost, and the next ones not be shorter. */
  @Test
  void theWaitWhileHoldingIsAtMostHalfOfALeaseThatIsNotRenewed() {
    lease = Duration.ofMillis(80);

    runRounds(6);

    assertEquals(List.of(25L, 40L, 40L, 25L), holdingWaits);
  }

  /** The servers have answered. */
  @Test
  void manyRoundsThatLostAMemberLeaveTheWaitsShort() {
    leases = () -> lost("isValid");
    Boolean[] granted = new Boolean[2 * 10];
    Arrays.fill(granted, true);

    run(granted);

    assertEquals(List.of(25L, 50L, 200L, 25L, 50L, 800L, 25L), holdingWaits);
  }
}
