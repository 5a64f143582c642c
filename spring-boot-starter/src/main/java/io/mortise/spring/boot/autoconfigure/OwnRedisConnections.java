package io.mortise.spring.boot.autoconfigure;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Finds the beans by which an application itself decides where Spring Data Redis connects to. The
 * properties, and the connection details of Spring Boot, show nothing of them.
 *
 * <p><b>Threads.</b> Spring calls it on the thread that starts the application.
 */
final class OwnRedisConnections {
  private static final String SPRING_BOOT = "org.springframework.boot.";

  private OwnRedisConnections() {}

  /** Returns the names of such beans. Makes none of them. */
  static List<String> names(ConfigurableListableBeanFactory beans) {
    return Stream.of(RedisConfiguration.class, RedisConnectionFactory.class)
        .flatMap(type -> Stream.of(namesOf(type, beans)))
        .filter(name -> !isOfSpringBoot(name, beans))
        .distinct()
        .toList();
  }

  private static String[] namesOf(Class<?> type, ConfigurableListableBeanFactory beans) {
    return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, type, true, false);
  }

  /** The configurations of Spring Boot are beans, whose names are those of their classes. */
  private static boolean isOfSpringBoot(String name, ConfigurableListableBeanFactory beans) {
    try {
      @Nullable String configuration = beans.getMergedBeanDefinition(name).getFactoryBeanName();
      return configuration != null && configuration.startsWith(SPRING_BOOT);
    } catch (NoSuchBeanDefinitionException singleton) {
      return false;
    }
  }
}
