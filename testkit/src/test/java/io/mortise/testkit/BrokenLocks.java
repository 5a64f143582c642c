package io.mortise.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import io.mortise.core.DistributedLock;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.concurrent.Callable;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/**
 * The contracts on a plain lock with the fault of the moment.
 *
 * <p><b>Threads.</b> One test at a time sets the fault; any thread uses the locks.
 */
final class BrokenLocks {
  private static volatile Fault fault;

  private BrokenLocks() {}

  /** Changes what one lock does; {@code call} is what the method would do. */
  @FunctionalInterface
  interface Fault {
    Object on(DistributedLock lock, String method, Object[] arguments, Callable<?> call)
        throws Throwable;
  }

  /** From now on all locks behave like this. */
  static void behave(Fault how) {
    fault = how;
  }

  /** Runs one test of a contract; returns how many tests failed. */
  static long failures(Class<?> contract, String test) {
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request().selectors(selectMethod(contract, test)).build();
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherFactory.create().execute(request, listener);
    assertEquals(1, listener.getSummary().getTestsStartedCount());
    return listener.getSummary().getTestsFailedCount();
  }

  /** Makes the locks of a contract. */
  interface Broken extends RedisLocks {
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

  static final class Locks extends LockContract implements Broken {}

  static final class Waits extends WaitContract implements Broken {}

  static final class Leases extends LeaseContract implements Broken {}

  static final class ShortForms extends ShortFormsContract implements Broken {}

  static final class AtLeast extends AtLeastContract implements Broken {}

  interface Interception {
    Object on(String method, Object[] arguments, Callable<?> call) throws Throwable;
  }

  static <T> T proxy(Class<T> type, T target, Interception interception) {
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
