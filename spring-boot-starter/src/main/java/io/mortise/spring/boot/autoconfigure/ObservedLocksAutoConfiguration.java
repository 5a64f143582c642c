package io.mortise.spring.boot.autoconfigure;

import io.micrometer.observation.ObservationRegistry;
import io.mortise.micrometer.LockWaitConvention;
import io.mortise.micrometer.ObservedLock;
import io.mortise.spring.boot.locked.LockDecorator;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/**
 * Makes observations of the waits of {@code @Locked} methods, where {@code mortise-micrometer} and
 * a registry of observations are there.
 *
 * <p><b>Threads.</b> Spring calls it on the thread that starts the application.
 */
@AutoConfiguration(
    afterName =
        "org.springframework.boot.micrometer.observation.autoconfigure"
            + ".ObservationAutoConfiguration")
@ConditionalOnClass({ObservedLock.class, ObservationRegistry.class})
@ConditionalOnSingleCandidate(ObservationRegistry.class)
@ConditionalOnBooleanProperty(name = "mortise.enabled", matchIfMissing = true)
@ConditionalOnBooleanProperty(name = "mortise.locked.observed", matchIfMissing = true)
public final class ObservedLocksAutoConfiguration {

  @Bean
  LockDecorator observedLocks(
      ObservationRegistry registry, ObjectProvider<LockWaitConvention> conventions) {
    LockWaitConvention convention = conventions.getIfUnique(LockWaitConvention::defaults);
    return lock -> ObservedLock.of(lock, registry, convention);
  }
}
