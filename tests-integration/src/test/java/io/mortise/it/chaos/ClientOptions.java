package io.mortise.it.chaos;

import io.mortise.core.LockOptions;
import io.mortise.fairlock.RedisFairLock;
import java.time.Duration;

/** The options of the clients of a tested lock. */
enum ClientOptions {
  /** Times that let a short run see what happens after them. */
  SHORT_TIMES,
  /** Those that a user has who sets none. */
  DEFAULTS;

  private static final Duration SHORT_WAITER_TIMEOUT = Duration.ofSeconds(3);

  /** Returns the options of a client, whose renewed holds have that lease among the short times. */
  LockOptions lockOptions(Duration lease, int maxHandOffs) {
    LockOptions.Builder builder = LockOptions.builder().tuning(t -> t.maxHandOffs(maxHandOffs));
    return switch (this) {
      case SHORT_TIMES ->
          builder
              .lease(lease)
              .commandTimeout(Duration.ofSeconds(1))
              .tuning(t -> t.subscriptionLinger(Duration.ofSeconds(1)))
              .build();
      case DEFAULTS -> builder.build();
    };
  }

  /** Returns for how long a killed waiter in a queue may delay the others. */
  Duration waiterTimeout() {
    return this == DEFAULTS ? RedisFairLock.DEFAULT_WAITER_TIMEOUT : SHORT_WAITER_TIMEOUT;
  }
}
