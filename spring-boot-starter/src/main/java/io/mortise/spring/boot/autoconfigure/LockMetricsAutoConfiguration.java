package io.mortise.spring.boot.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;
import io.mortise.core.LockClient;
import io.mortise.micrometer.LockMetrics;
import java.util.stream.Stream;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
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

  /** The gauges ask the clients whose events the timers and counters count, from the first one. */
  @Bean
  static BeanPostProcessor lockMetricsWatchClients() {
    return new BeanPostProcessor() {
      @Override
      public Object postProcessAfterInitialization(Object bean, String name) {
        if (bean instanceof LockClient client) {
          watch(client);
        }
        return bean;
      }
    };
  }

  /** Also those that were made elsewhere, and registered as beans. */
  @Bean
  SmartInitializingSingleton lockMetricsGauges(ObjectProvider<LockClient> clients) {
    return () -> clients.forEach(LockMetricsAutoConfiguration::watch);
  }

  private static void watch(LockClient client) {
    client.options().listeners().stream()
        .flatMap(each -> each instanceof LockMetrics metrics ? Stream.of(metrics) : Stream.empty())
        .forEach(metrics -> metrics.watch(client));
  }
}
