package io.mortise.core.spi;

import java.util.Optional;

/**
 * Decides how long the acquisitions of a client wait, given how long their callers ask for. Clients
 * leave it to the callers; those of the test kit's Redis may be asked to let a wait time out.
 *
 * <p>It is asked once for each acquisition of a caller, after the checks that need no Redis. It is
 * not asked for a re-entry, nor for an acquisition that a composite lock makes of one of its
 * members.
 *
 * <p><b>Threads.</b> Any thread may call it; the acquisition runs on that thread.
 */
@FunctionalInterface
public interface WaitPolicy {
  /** Waits for as long as the caller asks. */
  WaitPolicy AS_ASKED = (terms, acquisition) -> acquisition.with(terms);

  /** An acquisition, which may be run again when it ended without the lock. */
  @FunctionalInterface
  interface Attempt {
    /** As {@link LeaseSource#acquire}. */
    Optional<OwnedLease> with(LeaseTerms terms) throws InterruptedException;
  }

  /**
   * Runs the acquisition, by these terms or with another wait. The caller gets the hold that this
   * method returns; a policy that acquires another one has to release it.
   *
   * @throws InterruptedException if the acquisition was interrupted
   */
  Optional<OwnedLease> acquire(LeaseTerms terms, Attempt attempt) throws InterruptedException;

  /** Returns the policy that asks this one, and the other one about what this one allows. */
  default WaitPolicy then(WaitPolicy other) {
    if (this == AS_ASKED || this == other) {
      return other;
    }
    return other == AS_ASKED ? this : new Both(this, other);
  }

  /**
   * Returns the policy for a wait that begins now, and that asks the policy later, on another
   * thread. A request of a test in between counts for later waits only.
   */
  default WaitPolicy begun() {
    return this;
  }

  /**
   * Two policies as one: the first is asked, and the second about what the first allows.
   *
   * <p><b>Threads.</b> Immutable; any thread may call it.
   */
  record Both(WaitPolicy first, WaitPolicy second) implements WaitPolicy {
    @Override
    public Optional<OwnedLease> acquire(LeaseTerms terms, Attempt attempt)
        throws InterruptedException {
      return first.acquire(terms, allowed -> second.acquire(allowed, attempt));
    }

    @Override
    public WaitPolicy begun() {
      return first.begun().then(second.begun());
    }
  }
}
