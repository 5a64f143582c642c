package io.mortise.spring.boot;

import io.mortise.core.LockOptions;

/**
 * Changes the options of the auto-configured client, after the properties have been applied. Beans
 * of this type are called in their order.
 *
 * <pre>{@code
 * @Bean
 * LockOptionsCustomizer quickLocks() {
 *   return options -> options.tuning(tuning -> tuning.maxHandOffs(0));
 * }
 * }</pre>
 */
@FunctionalInterface
public interface LockOptionsCustomizer {

  /** Changes the options. */
  void customize(LockOptions.Builder options);
}
