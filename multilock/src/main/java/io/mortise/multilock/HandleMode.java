package io.mortise.multilock;

import io.mortise.core.composite.LeaseGroup;
import io.mortise.core.spi.GroupAttemptResult;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Members as handles. They may have an owner all the same, without whom they are not renewed. */
final class HandleMode implements MemberMode {
  private final @Nullable Thread owner;

  HandleMode(@Nullable Thread owner) {
    this.owner = owner;
  }

  @Override
  public boolean isThreads() {
    return false;
  }

  @Override
  public boolean isOwned(LeaseSource member) {
    return false;
  }

  @Override
  public @Nullable OwnedLease take(LeaseSource member, LeaseTerms terms)
      throws InterruptedException {
    return member.acquire(terms, owner).orElse(null);
  }

  @Override
  public GroupAttemptResult takeAll(List<LeaseSource> members, LeaseTerms terms)
      throws InterruptedException {
    return LeaseGroup.acquire(members, terms, owner);
  }

  @Override
  public void enter(List<LeaseSource> members, LeaseTerms terms) {
    throw new IllegalStateException("a handle is not entered again");
  }

  @Override
  public void leave(List<LeaseSource> members) {
    throw new IllegalStateException("a handle is not entered again");
  }

  @Override
  public List<RuntimeException> release(List<LeaseSource> from, List<OwnedLease> held) {
    return LeaseGroup.release(held);
  }
}
