package io.mortise.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.params.provider.Arguments.arguments;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import com.google.common.util.concurrent.Uninterruptibles;
import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/** The contracts find what they are there to find: each lock here is broken in one way. */
@Timeout(60)
class ContractsTest {

  /** Changes what one lock does; {@code call} is what the method would do. */
  @FunctionalInterface
  interface Fault {
    Object on(DistributedLock lock, String method, Object[] arguments, Callable<?> call)
        throws Throwable;
  }

  private static volatile Fault fault;

  static Stream<Arguments> faults() {
    return Stream.of(
        broken(
            "excludes nobody",
            Locks.class,
            "excludesTheThreadsOfOneClient",
            (lock, method, args, call) -> method.equals("tryLock") ? true : call.call()),
        broken(
            "forgets a hold when it unlocks",
            Locks.class,
            "isReleasedWithTheLastOfItsHolds",
            (lock, method, args, call) -> {
              while (method.equals("unlock") && lock.holdCount() > 1) {
                lock.unlock();
              }
              return call.call();
            }),
        broken(
            "lets everybody unlock",
            Locks.class,
            "whoNeverHeldItCannotUnlockIt",
            ignoring(IllegalMonitorStateException.class)),
        broken(
            "takes every argument",
            Locks.class,
            "badArgumentsAreRefusedAtTheDoor",
            ignoring(IllegalArgumentException.class)),
        broken(
            "does not wait",
            Waits.class,
            "aWaitEndsInTimeAndSaysFalse",
            (lock, method, args, call) ->
                method.equals("tryLock") && args.length > 0 ? lock.tryLock() : call.call()),
        broken(
            "loses interrupts",
            Waits.class,
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
            Leases.class,
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
            Leases.class,
            "aHoldWithoutALeaseIsRenewed",
            (lock, method, args, call) -> {
              if (method.equals("lock")) {
                lock.withLease(Duration.ofSeconds(30)).lock();
                return null;
              }
              return call.call();
            }),
        broken(
            "does not tell a loss",
            Leases.class,
            "aGivenLeaseEndsByItselfAndTheLateUnlockHarmsNobody",
            ignoring(LeaseLostException.class)),
        broken(
            "gives all holders one token",
            Leases.class,
            "tokensRiseFromHolderToHolder",
            (lock, method, args, call) -> {
              Object result = call.call();
              return result instanceof Lease lease ? withToken(lease, 1L) : result;
            }),
        broken(
            "has views that forget their lease",
            ShortForms.class,
            "eachAcquisitionOfAViewHasItsLease",
            (lock, method, args, call) -> method.equals("withLease") ? lock : call.call()),
        broken(
            "frees the lock before its minimum",
            AtLeast.class,
            "aReleasedHoldKeepsOthersOutForTheRestOfItsMinimum",
            (lock, method, args, call) -> method.equals("atLeast") ? lock : call.call()),
        broken(
            "stays locked when the body fails",
            ShortForms.class,
            "whatTheBodyThrowsIsThrownAndTheLockIsReleased",
            (lock, method, args, call) -> {
              if (method.equals("withLock") && args[0] instanceof Runnable body) {
                lock.lock();
                body.run();
              }
              return call.call();
            }));
  }

  private static Arguments broken(String what, Class<?> contract, String test, Fault fault) {
    return arguments(what, contract, test, fault);
  }

  private static Fault ignoring(Class<? extends Throwable> type) {
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

  private static Lease withToken(Lease lease, Object token) {
    return proxy(
        Lease.class,
        lease,
        (method, args, call) -> method.equals("fencingToken") ? token : call.call());
  }

  @ParameterizedTest(name = "a lock that {0}")
  @MethodSource("faults")
  void aBrokenLockFails(String what, Class<?> contract, String test, Fault how) {
    fault = (lock, method, args, call) -> call.call();
    assertEquals(0, failures(contract, test), "the lock as it is");
    fault = how;
    assertEquals(1, failures(contract, test));
  }

  /** As a lock that does not know its owner waits for itself: its tests would never end. */
  @Test
  void aLockThatWaitsForItselfForEverFails() {
    CountDownLatch end = new CountDownLatch(1);
    fault =
        (lock, method, args, call) -> {
          if (method.equals("lock") && lock.isHeldByCurrentThread()) {
            Uninterruptibles.awaitUninterruptibly(end);
          }
          return call.call();
        };
    try {
      long failed =
          assertTimeoutPreemptively(
              Duration.ofSeconds(50),
              () -> failures(ShortForms.class, "aViewWithALeaseIsTheSameLock"));
      assertEquals(1, failed);
    } finally {
      end.countDown();
    }
  }

  private static long failures(Class<?> contract, String test) {
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request().selectors(selectMethod(contract, test)).build();
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherFactory.create().execute(request, listener);
    assertEquals(1, listener.getSummary().getTestsStartedCount());
    return listener.getSummary().getTestsFailedCount();
  }

  /** The plain lock with the fault of the moment. */
  interface BrokenLocks extends RedisLocks {
    @Override
    default DistributedLock lock(String name) {
      return broken(RedisLocks.super.lock(name));
    }

    @Override
    default DistributedLock otherProcess(String name) {
      return broken(RedisLocks.super.otherProcess(name));
    }

    private static DistributedLock broken(DistributedLock lock) {
      return proxy(
          DistributedLock.class, lock, (method, args, call) -> fault.on(lock, method, args, call));
    }
  }

  static final class Locks extends LockContract implements BrokenLocks {}

  static final class Waits extends WaitContract implements BrokenLocks {}

  static final class Leases extends LeaseContract implements BrokenLocks {}

  static final class ShortForms extends ShortFormsContract implements BrokenLocks {}

  static final class AtLeast extends AtLeastContract implements BrokenLocks {}

  private interface Interception {
    Object on(String method, Object[] arguments, Callable<?> call) throws Throwable;
  }

  private static <T> T proxy(Class<T> type, T target, Interception interception) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, args) -> {
              Object[] given = args == null ? new Object[0] : Arrays.copyOf(args, args.length);
              return interception.on(method.getName(), given, () -> invoke(target, method, args));
            }));
  }

  private static Object invoke(Object target, Method method, Object[] args) throws Exception {
    try {
      return method.invoke(target, args);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw (Exception) e.getCause();
    }
  }
}
