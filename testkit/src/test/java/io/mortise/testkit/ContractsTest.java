package io.mortise.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The contracts find what they are there to find: each lock here is broken in one way. */
@Timeout(60)
class ContractsTest {
  private static final Duration DEFAULT_LEASE = Duration.ofSeconds(3);

  /** The tests that have passed with the lock as it is. */
  private static final Set<String> PASSED = new HashSet<>();

  static Stream<Arguments> faults() {
    return Stream.of(
        broken(
            "excludes nobody",
            BrokenLocks.Locks.class,
            "excludesTheThreadsOfOneClient",
            (lock, method, args, call) -> method.equals("tryLock") ? true : call.call()),
        broken(
            "forgets a hold when it unlocks",
            BrokenLocks.Locks.class,
            "isReleasedWithTheLastOfItsHolds",
            (lock, method, args, call) -> {
              while (method.equals("unlock") && lock.holdCount() > 1) {
                lock.unlock();
              }
              return call.call();
            }),
        broken(
            "lets everybody unlock",
            BrokenLocks.Locks.class,
            "whoNeverHeldItCannotUnlockIt",
            ignoring(IllegalMonitorStateException.class)),
        broken(
            "takes every argument",
            BrokenLocks.Locks.class,
            "badArgumentsAreRefusedAtTheDoor",
            ignoring(IllegalArgumentException.class)),
        broken(
            "does not wait",
            BrokenLocks.Waits.class,
            "aWaitEndsInTimeAndSaysFalse",
            (lock, method, args, call) ->
                method.equals("tryLock") && args.length > 0 ? lock.tryLock() : call.call()),
        broken(
            "loses interrupts",
            BrokenLocks.Waits.class,
            "lockWaitsThroughAnInterruptAndKeepsIt",
            (lock, method, args, call) -> {
              Object result = call.call();
              if (method.equals("lock")) {
                Thread.interrupted();
              }
              return result;
            }),
        broken(
            "is not renewed",
            BrokenLocks.Leases.class,
            "aHoldWithoutALeaseIsRenewed",
            (lock, method, args, call) -> {
              if (method.equals("lock")) {
                lock.withLease(Duration.ofSeconds(1)).lock();
                return null;
              }
              return call.call();
            }),
        broken(
            "has a longer lease, and is not renewed",
            BrokenLocks.Leases.class,
            "aHoldWithoutALeaseIsRenewed",
            (lock, method, args, call) -> {
              if (method.equals("lock")) {
                lock.withLease(Duration.ofSeconds(30)).lock();
                return null;
              }
              return call.call();
            }),
        broken(
            "has handles that are not renewed when acquire() returns them",
            BrokenLocks.Leases.class,
            "aHoldWithoutALeaseIsRenewed",
            (lock, method, args, call) ->
                method.equals("acquire") && args.length == 0
                    ? lock.withLease(DEFAULT_LEASE).acquire()
                    : call.call()),
        broken(
            "has handles that are not renewed when acquireAsync(wait) returns them",
            BrokenLocks.Leases.class,
            "aHoldWithoutALeaseIsRenewed",
            (lock, method, args, call) ->
                method.equals("acquireAsync") && args.length == 1
                    ? lock.withLease(DEFAULT_LEASE).acquireAsync((Duration) args[0])
                    : call.call()),
        broken(
            "wakes nobody, and its waiters ask again",
            BrokenLocks.Waits.class,
            "aReleaseWakesAWaiterOfAnotherClientLongBeforeTheLeaseEnds",
            asksAgain("tryLock", 1)),
        broken(
            "wakes nobody when it is forced, and its waiters ask again",
            BrokenLocks.Waits.class,
            "forceWakesAWaiter",
            asksAgain("tryLock", 1)),
        broken(
            "wakes no waiter in acquire(), which asks again",
            BrokenLocks.ShortForms.class,
            "acquireWaitsUntilTheLockIsFree",
            asksAgain("acquire", 0)),
        broken(
            "keeps the place of a wait that has timed out",
            BrokenLocks.Waits.class,
            "aWaitEndsInTimeAndSaysFalse",
            keepsThePlace(Duration.ofSeconds(10))),
        broken(
            "does not tell a loss",
            BrokenLocks.Leases.class,
            "aGivenLeaseEndsByItselfAndTheLateUnlockHarmsNobody",
            ignoring(LeaseLostException.class)),
        broken(
            "gives all holders one token",
            BrokenLocks.Leases.class,
            "tokensRiseFromHolderToHolder",
            (lock, method, args, call) -> {
              Object result = call.call();
              return result instanceof Lease lease ? withToken(lease, 1L) : result;
            }),
        broken(
            "has views that forget their lease",
            BrokenLocks.ShortForms.class,
            "eachAcquisitionOfAViewHasItsLease",
            (lock, method, args, call) -> method.equals("withLease") ? lock : call.call()),
        broken(
            "frees the lock before its minimum",
            BrokenLocks.AtLeast.class,
            "aReleasedHoldKeepsOthersOutForTheRestOfItsMinimum",
            (lock, method, args, call) -> method.equals("atLeast") ? lock : call.call()),
        broken(
            "stays locked when the body fails",
            BrokenLocks.ShortForms.class,
            "whatTheBodyThrowsIsThrownAndTheLockIsReleased",
            (lock, method, args, call) -> {
              if (method.equals("withLock") && args[0] instanceof Runnable body) {
                lock.lock();
                body.run();
              }
              return call.call();
            }));
  }

  private static Arguments broken(
      String what, Class<?> contract, String test, BrokenLocks.Fault fault) {
    return arguments(what, contract, test, fault);
  }

  private static BrokenLocks.Fault ignoring(Class<? extends Throwable> type) {
    return (lock, method, args, call) -> {
      try {
        return call.call();
      } catch (Exception e) {
        if (type.isInstance(e)) {
          return null;
        }
        throw e;
      }
    };
  }

  /** A waiter of that form looks once in a default lease, whatever happens meanwhile. */
  private static BrokenLocks.Fault asksAgain(String form, int arguments) {
    return (lock, method, args, call) -> {
      boolean waits = method.equals(form) && args.length == arguments;
      while (waits && lock.isLocked()) {
        LockSupport.parkNanos(DEFAULT_LEASE.toNanos());
      }
      return call.call();
    };
  }

  /** After a wait that has timed out nobody gets the lock for some time, although it is free. */
  private static BrokenLocks.Fault keepsThePlace(Duration timeout) {
    AtomicLong end = new AtomicLong(System.nanoTime());
    return (lock, method, args, call) -> {
      if (method.equals("tryLock") && args.length == 0 && System.nanoTime() - end.get() < 0) {
        return false;
      }
      Object result = call.call();
      if (method.equals("tryLock") && args.length > 0 && result.equals(false)) {
        end.set(System.nanoTime() + timeout.toNanos());
      }
      return result;
    };
  }

  private static Lease withToken(Lease lease, Object token) {
    return BrokenLocks.proxy(
        Lease.class,
        lease,
        (method, args, call) -> method.equals("fencingToken") ? token : call.call());
  }

  @ParameterizedTest(name = "a lock that {0}")
  @MethodSource("faults")
  void aBrokenLockFails(String what, Class<?> contract, String test, BrokenLocks.Fault how) {
    if (!PASSED.contains(test)) {
      BrokenLocks.behave((lock, method, args, call) -> call.call());
      assertEquals(0, BrokenLocks.failures(contract, test), "the lock as it is");
      PASSED.add(test);
    }
    BrokenLocks.behave(how);
    assertEquals(1, BrokenLocks.failures(contract, test));
  }
}
