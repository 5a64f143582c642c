package io.mortise.multilock;

import io.mortise.core.composite.LeaseGroup;
import io.mortise.core.spi.GroupAttemptResult;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import io.mortise.core.spi.ThreadOwnership;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Members that the current thread owns, each as if it had locked it by itself. */
final class ThreadMode implements MemberMode {

  @Override
  public boolean isThreads() {
    return true;
  }

  @Override
  public boolean isOwned(LeaseSource member) {
    return ThreadOwnership.leaseOf(member.identity()).isPresent();
  }

  @Override
  public @Nullable OwnedLease take(LeaseSource member, LeaseTerms terms)
      throws InterruptedException {
    return ThreadOwnership.lock(member, terms) ? ThreadOwnership.lease(member) : null;
  }

  @Override
  public GroupAttemptResult takeAll(List<LeaseSource> members, LeaseTerms terms)
      throws InterruptedException {
    GroupAttemptResult outcome = LeaseGroup.acquire(members, terms, Thread.currentThread());
    if (outcome instanceof GroupAttemptResult.Acquired acquired) {
      own(members, acquired.leases(), terms);
    }
    return outcome;
  }

  private void own(List<LeaseSource> members, List<OwnedLease> leases, LeaseTerms terms) {
    int owned = 0;
    try {
      for (; owned < leases.size(); owned++) {
        ThreadOwnership.register(members.get(owned), leases.get(owned), terms);
      }
    } finally {
      if (owned < leases.size()) { // an error, as for want of memory
        var unused = LeaseGroup.release(leases.subList(owned, leases.size()));
        unused = release(members.subList(0, owned), leases);
      }
    }
  }

  /** All or none: what was entered before one that cannot be is left again. */
  @Override
  public void enter(List<LeaseSource> members, LeaseTerms terms) {
    List<LeaseSource> entered = new ArrayList<>();
    try {
      for (LeaseSource member : members) {
        ThreadOwnership.lock(
            member, terms.waiting(0).interruptible(false).withOptions(member.options()));
        entered.add(member);
      }
    } catch (InterruptedException e) {
      throw new AssertionError("these terms say that an interrupt ends nothing", e);
    } catch (RuntimeException | Error e) {
      release(entered, List.of()).forEach(e::addSuppressed);
      throw e;
    }
  }

  @Override
  public void leave(List<LeaseSource> members) {
    for (LeaseSource member : members) {
      release(List.of(member), List.of());
    }
  }

  /** Gives up one level of each; what that was the last level of is released. */
  @Override
  public List<RuntimeException> release(List<LeaseSource> from, List<OwnedLease> held) {
    List<RuntimeException> failures = new ArrayList<>();
    List<OwnedLease> last = new ArrayList<>();
    for (LeaseSource member : from) {
      try {
        OwnedLease lease = ThreadOwnership.exit(member);
        if (lease != null) {
          last.add(lease);
        }
      } catch (IllegalMonitorStateException notHeld) {
        failures.add(notHeld);
      }
    }
    failures.addAll(LeaseGroup.release(last));
    return failures;
  }
}
