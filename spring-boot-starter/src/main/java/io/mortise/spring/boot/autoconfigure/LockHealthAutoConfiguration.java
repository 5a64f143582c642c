package io.mortise.spring.boot.autoconfigure;

import io.mortise.core.LockClient;
import io.mortise.spring.boot.actuate.LockHealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/**
 * Configures the health indicator {@code locks}, where Spring Boot's health is there.
 *
 * <p><b>Threads.</b> Spring calls it on the thread that starts the application.
 */
@AutoConfiguration(after = MortiseAutoConfiguration.class)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnSingleCandidate(LockClient.class)
@ConditionalOnEnabledHealthIndicator("locks")
public final class LockHealthAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean(name = "locksHealthIndicator")
  LockHealthIndicator locksHealthIndicator(LockClient client) {
    return new LockHealthIndicator(client);
  }
}
