package io.mortise.spring.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.core.LockClient;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** The URI says what {@code spring.data.redis} says. */
class DataRedisLockClientFactoryTest {
  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  MortiseAutoConfiguration.class, DataRedisAutoConfiguration.class));

  @ParameterizedTest
  @CsvSource({
    "url=redis://ann:secret@host:7000/3,redis://ann:secret@host:7000/3",
    "url=rediss://ann:secret@host:7000/3,rediss://ann:secret@host:7000/3",
    "host=host;username=my_user:a;password=p_w:b,redis://my_user%3Aa:p_w%3Ab@host:6379/0",
    "cluster.nodes=host:7000,redis-cluster://host:7000",
    "cluster.nodes=host:7000;ssl.enabled=true,rediss-cluster://host:7000",
    "sentinel.nodes=host:7000;sentinel.master=m;ssl.enabled=true,rediss-sentinel://host:7000/0#m",
    "host=host;ssl.enabled=true,rediss://host:6379/0"
  })
  void theUriSaysWhatThePropertiesSay(String properties, String uri) {
    runner
        .withPropertyValues(
            Stream.of(properties.split(";"))
                .map("spring.data.redis."::concat)
                .toArray(String[]::new))
        .run(
            context ->
                assertThat(context.getBean(DataRedisLockClientFactory.class).uri()).isEqualTo(uri));
  }

  @ParameterizedTest
  @CsvSource({
    "host=order_redis,redis://order_redis:6379/0,order_redis:6379",
    "host=::1,redis://[::1]:6379/0,[::1]:6379",
    "host=[::1],redis://[::1]:6379/0,[::1]:6379",
    "cluster.nodes=::1:7000,redis-cluster://[::1]:7000,[::1]:7000",
    "cluster.nodes=order_redis:7000,redis-cluster://order_redis:7000,order_redis:7000"
  })
  void aHostMayHaveUnderscoresOrBeAnIpv6Address(String property, String uri, String address) {
    runner
        .withPropertyValues("spring.data.redis." + property)
        .run(
            context -> {
              assertThat(context.getBean(DataRedisLockClientFactory.class).uri()).isEqualTo(uri);
              assertThat(context.getBean(LockClient.class).toString()).contains(address);
            });
  }

  @ParameterizedTest
  @CsvSource({"other,redis://other:6379/0", "host,rediss://host:6379/0"})
  void aServiceConnectionToAnotherServerHasNotTheTlsOfTheUrl(String host, String uri) {
    runner
        .withPropertyValues("spring.data.redis.url=rediss://host")
        .withBean(
            DataRedisConnectionDetails.class,
            () ->
                new DataRedisConnectionDetails() {
                  @Override
                  public Standalone getStandalone() {
                    return Standalone.of(host, 6379);
                  }
                })
        .run(
            context ->
                assertThat(context.getBean(DataRedisLockClientFactory.class).uri()).isEqualTo(uri));
  }

  @Test
  void staticReplicasAreRefusedAtTheStart() {
    runner
        .withPropertyValues("spring.data.redis.masterreplica.nodes=redis-a:6379,redis-b:6379")
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining("static replicas; set mortise.redis.uri"));
  }

  /** Spring Data connects there, and the properties, which name nothing, would mean localhost. */
  @ParameterizedTest
  @MethodSource("ownConnections")
  void aConnectionThatTheApplicationItselfConfiguresIsRefusedAtTheStart(Class<?> own) {
    runner
        .withUserConfiguration(own)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining("its beans [mine]")
                    .hasMessageContaining("set mortise.redis.uri"));
    runner
        .withUserConfiguration(own)
        .withPropertyValues("mortise.redis.uri=redis://redis-c:6379")
        .run(
            context ->
                assertThat(context.getBean(LockClient.class).toString()).contains("redis-c:6379"));
    runner
        .withUserConfiguration(own)
        .withPropertyValues("spring.data.redis.host=redis-d")
        .run(
            context ->
                assertThat(context.getBean(LockClient.class).toString()).contains("redis-d:6379"));
  }

  static Stream<Class<?>> ownConnections() {
    return Stream.of(OwnServer.class, OwnSentinels.class, OwnCluster.class, OwnFactory.class);
  }

  @Configuration(proxyBeanMethods = false)
  static class OwnServer {
    @Bean
    RedisStandaloneConfiguration mine() {
      return new RedisStandaloneConfiguration("redis-b");
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class OwnSentinels {
    @Bean
    RedisSentinelConfiguration mine() {
      return new RedisSentinelConfiguration("master", Set.of("sentinel:26379"));
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class OwnCluster {
    @Bean
    RedisClusterConfiguration mine() {
      return new RedisClusterConfiguration(Set.of("node:7000"));
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class OwnFactory {
    @Bean
    RedisConnectionFactory mine() {
      return new JedisConnectionFactory(new RedisStandaloneConfiguration("redis-b"));
    }
  }
}
