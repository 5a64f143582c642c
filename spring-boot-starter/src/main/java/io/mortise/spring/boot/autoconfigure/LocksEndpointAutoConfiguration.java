package io.mortise.spring.boot.autoconfigure;

import io.mortise.core.LockClient;
import io.mortise.spring.boot.actuate.LocksEndpoint;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/**
 * Configures the endpoint {@code locks}, where Actuator is there and exposes it.
 *
 * <p><b>Threads.</b> Spring calls it on the thread that starts the application.
 */
@AutoConfiguration(after = MortiseAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnSingleCandidate(LockClient.class)
@ConditionalOnAvailableEndpoint(LocksEndpoint.class)
public final class LocksEndpointAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean
  LocksEndpoint locksEndpoint(LockClient client) {
    return new LocksEndpoint(client);
  }
}
