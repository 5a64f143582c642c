package io.mortise.multilock;

import io.mortise.core.composite.LeaseGroup;
import io.mortise.core.spi.GroupAttemptResult;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Members that are held as handles.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 *
 * @param owner the thread after whose death they are not renewed, or null
 */
record HandleMode(@Nullable Thread owner) implements MemberMode {

  @Override
  public boolean ownsByThread() {
    return false;
  }

  @Override
  public boolean isHeldByThread(LeaseSource member) {
    return false;
  }

  @Override
  public @Nullable OwnedLease acquire(LeaseSource member, LeaseTerms terms)
      throws InterruptedException {
    return member.acquire(terms, owner).orElse(null);
  }

  @Override
  public GroupAttemptResult acquireTogether(List<LeaseSource> members, LeaseTerms terms)
      throws InterruptedException {
    return members.get(0).acquireTogether(members, terms, owner);
  }

  @Override
  public List<RuntimeException> release(
      List<LeaseSource> from, List<OwnedLease> held, LeaseGroup.Releaser releaser) {
    return releaser.release(held);
  }

  @Override
  public void abandon(LeaseSource member, OwnedLease lease) {
    lease.stopRenewal(OwnedLease.UNRELEASED);
  }
}
