package io.mortise.spring.boot.autoconfigure;

import io.mortise.core.LockClient;
import io.mortise.spring.boot.integration.MortiseLockRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.integration.support.locks.LockRegistry;

/**
 * Configures the lock registry, where Spring Integration is there and the application has none.
 *
 * <p><b>Threads.</b> Spring calls it on the thread that starts the application.
 */
@AutoConfiguration(after = MortiseAutoConfiguration.class)
@ConditionalOnClass(LockRegistry.class)
@ConditionalOnSingleCandidate(LockClient.class)
@EnableConfigurationProperties(MortiseProperties.class)
public final class LockRegistryAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean(LockRegistry.class)
  MortiseLockRegistry lockRegistry(LockClient client, MortiseProperties properties) {
    return new MortiseLockRegistry(client, properties.lockRegistry().prefix());
  }
}
