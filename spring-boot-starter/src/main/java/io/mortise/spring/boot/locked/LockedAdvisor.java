package io.mortise.spring.boot.locked;

import io.mortise.core.LockClient;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.function.Supplier;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.util.ClassUtils;

/**
 * The advice of {@code @Locked} and the methods to which it applies.
 *
 * <p><b>Threads.</b> Any thread may call any method, after it has been made.
 */
public final class LockedAdvisor extends DefaultPointcutAdvisor {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the advisor.
   *
   * @param client called at the first lock: an advisor is made before most beans
   * @param decorator called at the first lock too
   * @param defaultWait the wait of methods that name none
   * @param running is notified of each call
   * @param order the place among the advisors of a method; the lowest is the outermost
   */
  public LockedAdvisor(
      LockedMethods methods,
      Supplier<LockClient> client,
      Supplier<LockDecorator> decorator,
      Duration defaultWait,
      RunningCalls running,
      int order) {
    super(
        new LockedPointcut(methods),
        new LockedInterceptor(methods, client, decorator, defaultWait, releasePoint(), running));
    setOrder(order);
  }

  private static ReleasePoint releasePoint() {
    return ClassUtils.isPresent(
            "org.springframework.transaction.support.TransactionSynchronizationManager",
            LockedAdvisor.class.getClassLoader())
        ? new TransactionReleasePoint()
        : ReleasePoint.AFTER_METHOD;
  }

  private static final class LockedPointcut extends StaticMethodMatcherPointcut {
    private final LockedMethods methods;

    LockedPointcut(LockedMethods methods) {
      this.methods = methods;
      setClassFilter(methods::isIn); // checks the class
    }

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
      return methods.find(method, targetClass).isPresent();
    }
  }
}
