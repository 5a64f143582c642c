package io.mortise.spring.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.micrometer.LockMetrics;
import io.mortise.testkit.RedisServer;
import io.mortise.testkit.RedisServerExtension;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The meters of the locks are in the registry of the application. */
@ExtendWith(RedisServerExtension.class)
class LockMetricsAutoConfigurationTest {
  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  LockMetricsAutoConfiguration.class, MortiseAutoConfiguration.class));

  private final ApplicationContextRunner withRegistry =
      runner.withConfiguration(
          AutoConfigurations.of(
              MetricsAutoConfiguration.class,
              CompositeMeterRegistryAutoConfiguration.class,
              SimpleMetricsExportAutoConfiguration.class));

  @Test
  void timersAndGaugesShowALock(RedisServer redis) {
    withRegistry
        .withPropertyValues("mortise.redis.uri=" + redis.uri())
        .run(
            context -> {
              MeterRegistry registry = context.getBean(MeterRegistry.class);
              try (Lease lease = context.getBean(LockClient.class).lock("orders").acquire()) {
                assertThat(lease.isValid()).isTrue();
                assertThat(registry.get("mortise.lock.holds").gauge().value()).isEqualTo(1);
              }
              assertThat(registry.get("mortise.lock.holds").gauge().value()).isEqualTo(0);
              await()
                  .atMost(Duration.ofSeconds(30))
                  .untilAsserted(
                      () ->
                          assertThat(
                                  registry
                                      .get("mortise.lock.hold")
                                      .tag("outcome", "released")
                                      .timer()
                                      .count())
                              .isEqualTo(1));
            });
  }

  @Test
  void eachMetricsOfTheApplicationShowsTheClientsThatNotifyIt(RedisServer redis) {
    LockMetrics ofSomeoneElse = LockMetrics.create();
    withRegistry
        .withPropertyValues("mortise.redis.uri=" + redis.uri())
        .withBean("one", LockMetrics.class, () -> tagged("one"))
        .withBean("two", LockMetrics.class, () -> tagged("two"))
        .run(
            context -> {
              MeterRegistry registry = context.getBean(MeterRegistry.class);
              try (Lease lease = context.getBean(LockClient.class).lock("orders").acquire()) {
                assertThat(lease.isValid()).isTrue();
                assertThat(holds(registry, "one")).isEqualTo(1);
                assertThat(holds(registry, "two")).isEqualTo(1);
              }
            });
    withRegistry
        .withBean(LockMetrics.class, () -> tagged("one"))
        .withBean(
            LockClient.class,
            () ->
                LockClient.create(
                    redis.uri(), LockOptions.builder().listener(ofSomeoneElse).build()))
        .run(
            context -> {
              try (Lease lease = context.getBean(LockClient.class).lock("orders").acquire()) {
                assertThat(lease.isValid()).isTrue();
                assertThat(holds(context.getBean(MeterRegistry.class), "one")).isNaN();
              }
            });
  }

  private static LockMetrics tagged(String value) {
    return LockMetrics.builder().tags(Tags.of("of", value)).build();
  }

  private static double holds(MeterRegistry registry, String of) {
    return registry.get("mortise.lock.holds").tag("of", of).gauge().value();
  }

  @Test
  void withoutARegistryOrTheModuleThereAreNone() {
    runner.run(
        context ->
            assertThat(context).hasSingleBean(LockClient.class).doesNotHaveBean(LockMetrics.class));
    withRegistry
        .withClassLoader(new FilteredClassLoader(LockMetrics.class))
        .run(
            context ->
                assertThat(context).hasSingleBean(LockClient.class).doesNotHaveBean("lockMetrics"));
  }
}
