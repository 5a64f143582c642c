package io.mortise.multilock;

import io.mortise.core.composite.LeaseGroup;
import io.mortise.core.spi.GroupAttemptResult;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import io.mortise.core.spi.ThreadOwnership;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Members that the current thread owns, each as if the thread had locked it separately. Each hold
 * has an object of its own, by which the levels of its members are found.
 *
 * <p><b>Threads.</b> Stateless. Each method acts on the holds of the calling thread.
 */
final class ThreadMode implements MemberMode {
  private static final @Nullable OwnedLease[] NONE = {};

  @Override
  public boolean ownsByThread() {
    return true;
  }

  @Override
  public boolean isHeldByThread(LeaseSource member) {
    return ThreadOwnership.leaseOf(member.identity()).isPresent();
  }

  @Override
  public @Nullable OwnedLease acquire(LeaseSource member, LeaseTerms terms)
      throws InterruptedException {
    if (!ThreadOwnership.lockFor(this, member, terms)) {
      return null;
    }
    try {
      return ThreadOwnership.lease(member);
    } catch (Throwable e) {
      ThreadOwnership.unlockFor(this, member);
      throw e;
    }
  }

  @Override
  public GroupAttemptResult acquireTogether(List<LeaseSource> members, LeaseTerms terms)
      throws InterruptedException {
    GroupAttemptResult outcome =
        members.get(0).acquireTogether(members, terms, Thread.currentThread());
    if (outcome instanceof GroupAttemptResult.Acquired acquired) {
      register(members, acquired.leases(), terms);
    }
    return outcome;
  }

  private void register(List<LeaseSource> members, List<OwnedLease> leases, LeaseTerms terms) {
    int owned = 0;
    try {
      for (; owned < leases.size(); owned++) {
        ThreadOwnership.registerFor(this, members.get(owned), leases.get(owned), terms);
      }
    } finally {
      if (owned < leases.size()) { // an error, such as no memory
        giveBack(members, leases, owned);
      }
    }
  }

  /**
   * Releases the holds, of which the thread owns the first ones. It exits those without memory, and
   * then none of the holds has an owner; after another error none of them is renewed.
   */
  private void giveBack(List<LeaseSource> members, List<OwnedLease> leases, int owned) {
    try {
      for (int i = 0; i < owned; i++) {
        var unused = ThreadOwnership.exitFor(this, members.get(i));
      }
    } finally {
      var unused = LeaseGroup.release(leases);
    }
  }

  /** Re-enters all members or none: after a failure it exits those that it has re-entered. */
  @Override
  public void reenter(List<LeaseSource> members, LeaseTerms terms) {
    List<LeaseSource> reentered = new ArrayList<>(members.size()); // so that no add fails
    try {
      for (LeaseSource member : members) {
        ThreadOwnership.reenterFor(
            this, member, terms.waiting(0).interruptible(false).withOptions(member.options()));
        reentered.add(member);
      }
    } catch (InterruptedException e) {
      throw new AssertionError("these terms say that an interrupt ends nothing", e);
    } catch (RuntimeException | Error e) {
      release(reentered, List.of()).forEach(e::addSuppressed);
      throw e;
    }
  }

  @Override
  public void exit(List<LeaseSource> members) {
    var unused = release(members, List.of()); // which also exits the rest after an error
  }

  /**
   * Exits one level of each member; a member whose last level it was is released. After an error
   * the thread has exited all the same, and none of those members is renewed.
   */
  @Override
  public List<RuntimeException> release(
      List<LeaseSource> from, List<OwnedLease> held, LeaseGroup.Releaser releaser) {
    List<RuntimeException> failures;
    List<OwnedLease> released;
    @Nullable OwnedLease[] last = NONE;
    int exited = 0;
    try {
      failures = new ArrayList<>();
      last = new @Nullable OwnedLease[from.size()];
      while (exited < last.length) {
        LeaseSource member = from.get(exited);
        int place = exited++; // before the exit: after an error in it, it is not made again
        try {
          last[place] = ThreadOwnership.exitFor(this, member);
        } catch (IllegalMonitorStateException notHeld) {
          failures.add(notHeld);
        }
      }
      released = Arrays.stream(last).flatMap(Stream::ofNullable).toList();
    } catch (Throwable e) {
      abandonFrom(0, from, last, exited);
      throw e;
    }
    failures.addAll(releaser.release(released));
    return failures;
  }

  /** Gives the members up, of which the first ones have been exited. */
  private void abandonFrom(
      int place, List<LeaseSource> members, @Nullable OwnedLease[] last, int exited) {
    if (place < members.size()) {
      try {
        OwnedLease lease =
            place < exited ? last[place] : ThreadOwnership.exitFor(this, members.get(place));
        if (lease != null) {
          lease.stopRenewal(OwnedLease.UNRELEASED);
        }
      } finally {
        abandonFrom(place + 1, members, last, exited);
      }
    }
  }

  @Override
  public void abandon(LeaseSource member, OwnedLease lease) {
    OwnedLease last;
    try {
      last = ThreadOwnership.exitFor(this, member);
    } catch (IllegalMonitorStateException notHeld) {
      return; // it has been unlocked by itself, or locked anew
    }
    if (last != null) {
      last.stopRenewal(OwnedLease.UNRELEASED);
    }
  }
}
