package io.mortise.spring.boot.autoconfigure;

import io.mortise.core.LockClient;
import io.mortise.core.LockListener;
import io.mortise.core.LockOptions;
import io.mortise.spring.boot.LockOptionsCustomizer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.RedisSentinelClient;
import redis.clients.jedis.UnifiedJedis;

/**
 * Configures the {@link LockClient} of the application, unless it has one. It connects when it is
 * first used. It is closed with the other beans: after the web server has drained, and after
 * schedulers and executors have stopped, because those are stopped before any bean is destroyed.
 * The calls of locked methods that still run, on virtual threads, are awaited before.
 *
 * <p><b>Threads.</b> Spring calls it on the thread that starts the application.
 */
@AutoConfiguration(
    afterName = "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration")
@ConditionalOnBooleanProperty(name = "mortise.enabled", matchIfMissing = true)
@EnableConfigurationProperties(MortiseProperties.class)
public final class MortiseAutoConfiguration {
  private static final String LOCAL = "redis://localhost:6379";

  @Bean(destroyMethod = "close")
  @ConditionalOnMissingBean
  LockClient lockClient(
      MortiseProperties properties,
      ObjectProvider<UnifiedJedis> jedis,
      ObjectProvider<LockClientFactory> factory,
      ObjectProvider<LockListener> listeners,
      ObjectProvider<LockOptionsCustomizer> customizers) {
    JedisVersion.check();
    LockOptions options = options(properties, listeners, customizers);
    String uri = properties.redis().uri();
    if (StringUtils.hasText(uri)) {
      return client(uri, options);
    }
    UnifiedJedis given = jedisOfTheApplication(jedis);
    return given != null
        ? LockClient.create(given, options)
        : factory.getIfAvailable(() -> it -> LockClient.create(LOCAL, it)).create(options);
  }

  private static LockOptions options(
      MortiseProperties properties,
      ObjectProvider<LockListener> listeners,
      ObjectProvider<LockOptionsCustomizer> customizers) {
    try {
      LockOptions.Builder builder = properties.toOptions();
      listeners.orderedStream().forEach(builder::listener);
      customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
      return builder.build();
    } catch (IllegalArgumentException e) {
      throw properties.explain(e);
    }
  }

  private static LockClient client(String uri, LockOptions options) {
    try {
      return LockClient.create(uri, options);
    } catch (IllegalArgumentException e) {
      String property = InvalidPropertyException.REDIS_URI;
      throw new InvalidPropertyException(property, property + ": " + e.getMessage(), e);
    }
  }

  private static @Nullable UnifiedJedis jedisOfTheApplication(ObjectProvider<UnifiedJedis> jedis) {
    UnifiedJedis unique = jedis.getIfUnique();
    if (unique != null && isSupported(unique)) {
      return unique;
    }
    List<UnifiedJedis> supported =
        jedis.stream().filter(MortiseAutoConfiguration::isSupported).toList();
    if (supported.size() > 1) {
      throw new IllegalStateException(
          "there are %d Jedis clients, and locks need one of them; make one @Primary, or set"
                  .formatted(supported.size())
              + " mortise.redis.uri");
    }
    return supported.isEmpty() ? null : supported.get(0);
  }

  /** Any other, such as a MultiDbClient, is the application's own affair. */
  private static boolean isSupported(UnifiedJedis jedis) {
    return jedis instanceof RedisClient
        || jedis instanceof RedisSentinelClient
        || jedis instanceof RedisClusterClient;
  }

  /** The locks use the Redis of Spring Data, if its connection is configured. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(DataRedisConnectionDetails.class)
  static final class DataRedisConfiguration {

    @Bean
    @ConditionalOnBean(DataRedisConnectionDetails.class)
    @ConditionalOnMissingBean(LockClient.class)
    DataRedisLockClientFactory lockClientFactory(
        DataRedisConnectionDetails details,
        Environment environment,
        ConfigurableListableBeanFactory beans) {
      return new DataRedisLockClientFactory(details, environment, OwnRedisConnections.names(beans));
    }
  }
}
