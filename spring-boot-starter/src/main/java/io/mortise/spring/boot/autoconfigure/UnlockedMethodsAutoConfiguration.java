package io.mortise.spring.boot.autoconfigure;

import io.mortise.spring.boot.locked.LockedAdvisor;
import io.mortise.spring.boot.locked.LockedMethods;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;

/**
 * Warns of methods with {@code @Locked} where {@code mortise.enabled} leaves them without advice.
 *
 * <p><b>Threads.</b> Spring calls it on the thread that starts the application.
 */
@AutoConfiguration(after = LockedAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "mortise.enabled", havingValue = false)
@ConditionalOnBooleanProperty(name = "mortise.locked.enabled", matchIfMissing = true)
@ConditionalOnMissingBean(value = LockedAdvisor.class, search = SearchStrategy.CURRENT)
public final class UnlockedMethodsAutoConfiguration {
  private static final Logger LOG = LoggerFactory.getLogger(UnlockedMethodsAutoConfiguration.class);

  @Bean
  SmartInitializingSingleton unlockedMethodsWarning(ConfigurableListableBeanFactory beans) {
    return () -> {
      List<String> names = LockedBeans.names(beans, LockedMethods::isAnnotated);
      if (!names.isEmpty()) {
        LOG.warn(
            "mortise.enabled is false: the @Locked methods of the beans {} run without locks; set it"
                + " to true, or mortise.locked.enabled to false too if that is meant",
            names);
      }
    };
  }
}
