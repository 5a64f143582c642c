package io.mortise.spring.boot.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;
import io.mortise.core.LockClient;
import io.mortise.micrometer.LockMetrics;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * Configures the meters of the locks, where {@code mortise-micrometer} and a registry are there.
 * Spring Boot binds them to its registries; the client notifies them, as a listener.
 *
 * <p><b>Threads.</b> Spring calls it on the thread that starts the application.
 */
@AutoConfiguration(
    before = MortiseAutoConfiguration.class,
    afterName =
        "org.springframework.boot.micrometer.metrics.autoconfigure"
            + ".CompositeMeterRegistryAutoConfiguration")
@ConditionalOnClass({LockMetrics.class, MeterRegistry.class})
@ConditionalOnBean(MeterRegistry.class)
@ConditionalOnBooleanProperty(name = "mortise.enabled", matchIfMissing = true)
public final class LockMetricsAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean
  LockMetrics lockMetrics() {
    return LockMetrics.create();
  }

  /** The gauges ask the clients whose events the timers and counters count. */
  @Bean
  SmartInitializingSingleton lockMetricsGauges(
      ObjectProvider<LockMetrics> metrics, ObjectProvider<LockClient> clients) {
    return () -> metrics.forEach(each -> clients.forEach(client -> watch(each, client)));
  }

  private static void watch(LockMetrics metrics, LockClient client) {
    if (client.options().listeners().contains(metrics)) {
      metrics.watch(client);
    }
  }
}
