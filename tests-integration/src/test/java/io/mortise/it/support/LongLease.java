package io.mortise.it.support;

import io.mortise.core.LockOptions;
import java.time.Duration;

/** Options with a long lease: what comes in time cannot be mistaken for what ends with a lease. */
public final class LongLease {
  public static final LockOptions OPTIONS =
      LockOptions.builder()
          .lease(Duration.ofSeconds(30))
          .commandTimeout(Duration.ofSeconds(1))
          .outageTimeout(Duration.ofSeconds(60))
          .build();

  /** Shorter than a third of the lease, after which a hold is renewed. */
  public static final Duration WELL_WITHIN_A_RENEWAL = Duration.ofSeconds(8);

  private LongLease() {}
}
