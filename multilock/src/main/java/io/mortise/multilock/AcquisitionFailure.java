package io.mortise.multilock;

import io.mortise.core.LeaseLostException;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.spi.LeaseTerms;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The failures of an acquisition that are those of no member.
 *
 * <p><b>Threads.</b> Stateless; any thread may call any method.
 */
final class AcquisitionFailure {
  private AcquisitionFailure() {}

  /** Returns the failure of a round: the caller has lost nothing, it does not have the lock yet. */
  static LockException memberLost(
      String lockName, LeaseTerms terms, @Nullable LeaseLostException cause) {
    return new LockException(
        Reason.UNREACHABLE,
        "lock '%s': a member was lost before the others were acquired; give a longer lease than"
                .formatted(lockName)
            + " %d ms".formatted(terms.leaseMillis()),
        cause);
  }

  /** Returns the failure of a wait that was over before all members were asked. */
  static LockException tooSlow(String lockName, LeaseTerms terms) {
    return new LockException(
        Reason.UNREACHABLE,
        "lock '%s': its wait of %d ms was over before all members were asked; wait longer"
            .formatted(lockName, Duration.ofNanos(terms.waitNanos()).toMillis()),
        null);
  }
}
