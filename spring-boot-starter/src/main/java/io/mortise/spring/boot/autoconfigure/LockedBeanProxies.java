package io.mortise.spring.boot.autoconfigure;

import io.mortise.spring.boot.locked.LockedMethods;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.autoproxy.AbstractAutoProxyCreator;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.support.AbstractBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.env.Environment;

/**
 * Gives an application Spring's creator of proxies, as {@code AopAutoConfiguration} does, also
 * where {@code spring.aop.auto} is false; and refuses a bean with locked methods that is made
 * before the creator is at work, because its methods would run without their locks.
 *
 * <p>Example: a {@code BeanPostProcessor} with an order needs the bean {@code shop}. Spring makes
 * all of these before it registers the first of them, and with them {@code shop}. So the check is a
 * {@code BeanPostProcessor} without a bean, registered before any of these is made. It sees what
 * the context makes, not an object that is registered in place of a bean, as the mock of a test is.
 *
 * <p><b>Threads.</b> Spring calls it on the thread that starts the application, and the check on
 * any thread that makes a bean.
 */
final class LockedBeanProxies implements BeanDefinitionRegistryPostProcessor, PriorityOrdered {
  private final boolean ofClasses;

  LockedBeanProxies(Environment environment) {
    this.ofClasses = environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true);
  }

  @Override
  public int getOrder() {
    return Ordered.HIGHEST_PRECEDENCE;
  }

  @Override
  public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
    AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
    if (ofClasses) {
      AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(registry);
    }
    if (registry instanceof AbstractBeanFactory beans) {
      beans.addBeanPostProcessor(new EarlyBeanCheck(beans));
    }
  }

  private static final class EarlyBeanCheck implements BeanPostProcessor {
    private final AbstractBeanFactory beans;
    private volatile boolean creatorAtWork;

    EarlyBeanCheck(AbstractBeanFactory beans) {
      this.beans = beans;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
      if (!isCreatorAtWork() && hasLockedMethods(bean.getClass())) {
        throw new IllegalStateException(
            ("the bean '%s' has @Locked methods, and is made before Spring can give it the proxy that"
                    + " locks them; a BeanPostProcessor or BeanFactoryPostProcessor needs it: give"
                    + " that an ObjectProvider of it, or a @Lazy parameter")
                .formatted(name));
      }
      return bean;
    }

    private boolean isCreatorAtWork() {
      if (!creatorAtWork) {
        creatorAtWork =
            beans.getBeanPostProcessors().stream()
                .anyMatch(AbstractAutoProxyCreator.class::isInstance);
      }
      return creatorAtWork;
    }

    private static boolean hasLockedMethods(Class<?> type) {
      try {
        return LockedMethods.isAnnotated(type);
      } catch (RuntimeException | LinkageError e) {
        if (LockedBeans.isOfMissingClass(e)) {
          return false;
        }
        throw e;
      }
    }
  }
}
