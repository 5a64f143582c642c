package io.mortise.spring.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.core.Acknowledgement;
import io.mortise.core.LockClient;
import io.mortise.core.LockEvent;
import io.mortise.core.LockListener;
import io.mortise.core.LockOptions;
import io.mortise.spring.boot.LockOptionsCustomizer;
import io.mortise.spring.boot.actuate.LockHealthIndicator;
import io.mortise.spring.boot.actuate.LocksEndpoint;
import io.mortise.spring.boot.integration.MortiseLockRegistry;
import io.mortise.spring.boot.locked.LockedAdvisor;
import io.mortise.testkit.RedisServer;
import io.mortise.testkit.RedisServerExtension;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.integration.support.locks.DefaultLockRegistry;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.providers.PooledConnectionProvider;

/** Which beans there are, and to which Redis the client connects. */
@ExtendWith(RedisServerExtension.class)
class MortiseAutoConfigurationTest {
  private static final String NOWHERE = "mortise.redis.uri=redis://localhost:1";

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  MortiseAutoConfiguration.class,
                  LockedAutoConfiguration.class,
                  LockHealthAutoConfiguration.class,
                  LocksEndpointAutoConfiguration.class,
                  LockRegistryAutoConfiguration.class,
                  DataRedisAutoConfiguration.class));

  @Test
  void withoutPropertiesTheOptionsAreTheDefaults() {
    runner.run(
        context ->
            assertThat(context.getBean(LockClient.class).options())
                .isEqualTo(LockOptions.defaults()));
  }

  @Test
  void eachPropertyIsAnOption() {
    LockOptions expected =
        LockOptions.builder()
            .namespace("shop:")
            .lease(Duration.ofSeconds(12))
            .maxHold(Duration.ofHours(1))
            .outageTimeout(Duration.ofSeconds(3))
            .commandTimeout(Duration.ofMillis(700))
            .traceLeases(true)
            .acknowledgement(Acknowledgement.ofReplicas(1).onDisks().within(Duration.ofMillis(200)))
            .tuning(
                tuning ->
                    tuning
                        .maxConnections(7)
                        .subscriptionLinger(Duration.ofSeconds(1))
                        .tokenRetention(Duration.ofMinutes(1))
                        .clockDrift(0.1)
                        .maxHandOffs(3)
                        .maxHandOffTime(Duration.ofMillis(5)))
            .build();

    runner
        .withPropertyValues(
            "mortise.namespace=shop:",
            "mortise.lease=12s",
            "mortise.max-hold=1h",
            "mortise.outage-timeout=3s",
            "mortise.command-timeout=700ms",
            "mortise.trace-leases=true",
            "mortise.acknowledgement.replicas=1",
            "mortise.acknowledgement.on-disks=true",
            "mortise.acknowledgement.within=200ms",
            "mortise.tuning.max-connections=7",
            "mortise.tuning.subscription-linger=1s",
            "mortise.tuning.token-retention=1m",
            "mortise.tuning.clock-drift=0.1",
            "mortise.tuning.max-hand-offs=3",
            "mortise.tuning.max-hand-off-time=5ms")
        .run(
            context -> assertThat(context.getBean(LockClient.class).options()).isEqualTo(expected));
  }

  @Test
  void aValueOutOfItsRangeFailsTheStart() {
    runner
        .withPropertyValues("mortise.lease=1ms")
        .run(context -> assertThat(context).getFailure().rootCause().hasMessageContaining("lease"));
    runner
        .withPropertyValues("mortise.locked.wait-time=-3s")
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining("mortise.locked.wait-time 'PT-3S' is negative"));
  }

  @Test
  void thePropertiesPrintNoPassword() {
    runner
        .withPropertyValues("mortise.redis.uri=redis://:secret@localhost:1")
        .run(
            context ->
                assertThat(context.getBean(MortiseProperties.class).toString())
                    .contains("lease=PT30S")
                    .doesNotContain("secret"));
  }

  @Test
  void theUriOfThePropertyComesFirst(RedisServer redis) {
    runner
        .withPropertyValues("mortise.redis.uri=" + redis.uri(), "spring.data.redis.port=1")
        .run(context -> assertLocks(context.getBean(LockClient.class), redis));
  }

  @Test
  void theJedisClientOfTheApplicationComesNextAndStaysOpen(RedisServer redis) {
    try (UnifiedJedis jedis = RedisClient.create(redis.uri())) {
      runner
          .withInitializer(context -> context.getBeanFactory().registerSingleton("jedis", jedis))
          .withPropertyValues("spring.data.redis.port=1")
          .run(context -> assertLocks(context.getBean(LockClient.class), redis));
      assertThat(jedis.ping()).isEqualTo("PONG");
    }
  }

  @Test
  void aJedisClientThatLocksCannotUseIsPassedOver(RedisServer redis) {
    runner
        .withBean(UnifiedJedis.class, MortiseAutoConfigurationTest::unsupported)
        .withPropertyValues("mortise.redis.uri=", "spring.data.redis.url=" + redis.uri())
        .run(context -> assertLocks(context.getBean(LockClient.class), redis));
    runner
        .withBean(UnifiedJedis.class, MortiseAutoConfigurationTest::unsupported)
        .withBean(RedisClient.class, () -> RedisClient.create(redis.uri()))
        .run(context -> assertLocks(context.getBean(LockClient.class), redis));
  }

  @SuppressWarnings("deprecation") // the shortest way to a client that is none of the three
  private static UnifiedJedis unsupported() {
    return new UnifiedJedis(
        new PooledConnectionProvider(new HostAndPort("localhost", 1)), 1, Duration.ofSeconds(1));
  }

  @Test
  void severalJedisClientsNeedAPrimaryOne(RedisServer redis) {
    ApplicationContextRunner two =
        runner.withBean("one", RedisClient.class, () -> RedisClient.create("redis://localhost:1"));
    two.withBean("two", RedisClient.class, () -> RedisClient.create(redis.uri()))
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining("2 Jedis clients")
                    .hasMessageContaining("@Primary"));
    two.withBean(
            "two",
            RedisClient.class,
            () -> RedisClient.create(redis.uri()),
            definition -> definition.setPrimary(true))
        .run(context -> assertLocks(context.getBean(LockClient.class), redis));
  }

  @Test
  void theConnectionOfSpringDataIsUsedWithoutAUri(RedisServer redis) {
    runner
        .withPropertyValues(
            "spring.data.redis.host=" + redis.host(), "spring.data.redis.port=" + redis.port())
        .run(context -> assertLocks(context.getBean(LockClient.class), redis));
  }

  @Test
  void aServiceConnectionIsUsedAsThatOfTestcontainersIs(RedisServer redis) {
    runner
        .withBean(
            DataRedisConnectionDetails.class,
            () ->
                new DataRedisConnectionDetails() {
                  @Override
                  public Standalone getStandalone() {
                    return Standalone.of(redis.host(), redis.port());
                  }
                })
        .run(context -> assertLocks(context.getBean(LockClient.class), redis));
  }

  private static void assertLocks(LockClient client, RedisServer redis) {
    assertThat(client.lock("where").tryLock()).isTrue();
    assertThat(redis.command("EXISTS", "where")).isEqualTo(1L);
    client.lock("where").unlock();
  }

  @Test
  void theClientOfTheApplicationWins() {
    LockClient own = LockClient.create("redis://localhost:1");
    runner
        .withBean("own", LockClient.class, () -> own)
        .run(
            context -> {
              assertThat(context).getBean(LockClient.class).isSameAs(own);
              assertThat(context).hasSingleBean(LockedAdvisor.class);
            });
    assertThat(own.isClosed()).isTrue();
  }

  @Test
  void listenersAndCustomizersAreCalled() {
    LockListener listener = (LockEvent event) -> {};
    runner
        .withPropertyValues("mortise.lease=5s")
        .withBean(LockListener.class, () -> listener)
        .withBean(
            LockOptionsCustomizer.class, () -> options -> options.lease(Duration.ofSeconds(9)))
        .run(
            context -> {
              LockOptions options = context.getBean(LockClient.class).options();
              assertThat(options.listeners()).containsExactly(listener);
              assertThat(options.lease()).isEqualTo(Duration.ofSeconds(9));
            });
  }

  @Test
  void switchedOffThereIsNoClientAndNoAdvice() {
    runner
        .withPropertyValues("mortise.enabled=false")
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .doesNotHaveBean(LockClient.class)
                    .doesNotHaveBean(LockedAdvisor.class)
                    .doesNotHaveBean(LockRegistry.class));
  }

  @Test
  void itStartsWithNothingThatIsOptional() {
    runner
        .withPropertyValues(NOWHERE)
        .withClassLoader(
            new FilteredClassLoader(
                DataRedisConnectionDetails.class,
                HealthIndicator.class,
                LockRegistry.class,
                TransactionSynchronizationManager.class))
        .run(
            context ->
                assertThat(context)
                    .hasSingleBean(LockClient.class)
                    .hasSingleBean(LockedAdvisor.class)
                    .doesNotHaveBean(LockHealthIndicator.class)
                    .doesNotHaveBean(MortiseLockRegistry.class));
  }

  @Test
  void healthCanBeSwitchedOff() {
    runner.run(context -> assertThat(context).hasSingleBean(LockHealthIndicator.class));
    runner
        .withPropertyValues("management.health.locks.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean(LockHealthIndicator.class));
  }

  @Test
  void theEndpointIsThereWhenItIsExposed() {
    runner.run(context -> assertThat(context).doesNotHaveBean(LocksEndpoint.class));
    runner
        .withPropertyValues("management.endpoints.web.exposure.include=locks")
        .run(context -> assertThat(context).hasSingleBean(LocksEndpoint.class));
  }

  @Test
  void theLockRegistryOfTheApplicationWins() {
    runner.run(context -> assertThat(context).hasSingleBean(MortiseLockRegistry.class));
    runner
        .withBean(DefaultLockRegistry.class)
        .run(context -> assertThat(context).doesNotHaveBean(MortiseLockRegistry.class));
  }
}
