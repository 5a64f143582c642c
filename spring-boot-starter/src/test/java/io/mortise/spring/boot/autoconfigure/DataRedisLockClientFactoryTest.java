package io.mortise.spring.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.core.LockClient;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

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
}
