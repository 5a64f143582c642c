package io.mortise.spring.boot.autoconfigure;

import io.mortise.core.LockClient;
import io.mortise.spring.boot.autoconfigure.MortiseProperties.LockedProperties;
import io.mortise.spring.boot.locked.LockDecorator;
import io.mortise.spring.boot.locked.LockedAdvisor;
import io.mortise.spring.boot.locked.LockedMethods;
import io.mortise.spring.boot.locked.RunningCalls;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.util.function.SingletonSupplier;

/**
 * Configures the advice of methods with {@code @Locked}.
 *
 * <p><b>Threads.</b> Spring calls it on the thread that starts the application.
 */
@AutoConfiguration(after = MortiseAutoConfiguration.class)
@ConditionalOnBean(LockClient.class)
@ConditionalOnBooleanProperty(name = "mortise.locked.enabled", matchIfMissing = true)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public final class LockedAutoConfiguration {
  private static final Logger LOG = LoggerFactory.getLogger(LockedAutoConfiguration.class);

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static LockedMethods lockedMethods(ConfigurableListableBeanFactory beans) {
    return new LockedMethods(beans::resolveEmbeddedValue);
  }

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static RunningCalls runningLockedCalls() {
    return new RunningCalls();
  }

  /**
   * Made before most beans, so it reads the properties itself, and finds the client later. Each of
   * a parent context and its children has one, of the same name: Spring's creator of proxies
   * applies no advisor of another context, unless AspectJ is there; and then this one hides the
   * parent's.
   */
  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
  static LockedAdvisor lockedAdvisor(
      LockedMethods methods,
      RunningCalls running,
      ConfigurableListableBeanFactory beans,
      Environment environment) {
    LockedProperties properties = properties(environment);
    return new LockedAdvisor(
        methods,
        SingletonSupplier.of(() -> beans.getBean(LockClient.class)),
        SingletonSupplier.of(
            () -> beans.getBeanProvider(LockDecorator.class).getIfUnique(() -> lock -> lock)),
        properties.waitTime(),
        running,
        properties.order());
  }

  @Bean
  static LockedBeanProxies lockedBeanProxies(Environment environment) {
    return new LockedBeanProxies(environment);
  }

  /** The advice asks for the client at the first call, which is late to hear of this. */
  private static void checkClient(
      String name, String[] clients, ConfigurableListableBeanFactory beans) {
    if (clients.length > 1 && beans.getBeanProvider(LockClient.class).getIfUnique() == null) {
      throw new IllegalStateException(
          "the bean '%s' has @Locked methods, which need one LockClient, and there are %s;"
                  .formatted(name, Arrays.toString(clients))
              + " make one @Primary");
    }
  }

  /** Beans with locked methods may use them while they are destroyed, so the client is later. */
  @Bean
  static SmartInitializingSingleton lockedBeansDependOnTheClient(
      LockedMethods methods, ConfigurableListableBeanFactory beans) {
    return () -> {
      String[] clients = beans.getBeanNamesForType(LockClient.class, false, false);
      for (String name : LockedBeans.names(beans, methods::isIn)) {
        checkClient(name, clients, beans);
        for (String client : clients) {
          beans.registerDependentBean(client, name);
        }
      }
    };
  }

  /** A wait is right for a method that others call, and hardly ever for a job. */
  @Bean
  static SmartInitializingSingleton scheduledMethodsWithoutWait(
      LockedMethods methods, ConfigurableListableBeanFactory beans, Environment environment) {
    Duration wait = properties(environment).waitTime();
    return () -> {
      Set<String> found =
          wait.isZero() ? Set.of() : LockedBeans.find(beans, methods::scheduledWithoutWait);
      if (!found.isEmpty()) {
        LOG.warn(
            "the @Scheduled methods {} have @Locked without waitTime: each node waits for the lock"
                + " for up to {}, and runs the job too if it gets it in that time; for a job on one"
                + " node set waitTime = \"0s\", whenBusy = WhenBusy.SKIP, and an atLeast that is longer than"
                + " the clocks of the nodes differ; if each node is to run it, give its waitTime",
            found,
            wait);
      }
    };
  }

  private static LockedProperties properties(Environment environment) {
    return Binder.get(environment).bindOrCreate("mortise.locked", LockedProperties.class);
  }
}
