package io.mortise.multilock;

import io.mortise.core.composite.CompositeLease;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A hold that stands while all of its members do. */
final class MultiLease extends CompositeLease {
  private static final Logger LOG = LoggerFactory.getLogger(MultiLease.class);

  private final MultiLeaseSource source;
  private final MemberMode taking;

  MultiLease(
      MultiLeaseSource source,
      List<OwnedLease> members,
      long token,
      @Nullable Thread owner,
      boolean renewed,
      MemberMode taking) {
    super(source, members, members.size(), token, owner, renewed);
    this.source = source;
    this.taking = taking;
    watch();
  }

  @Override
  protected List<RuntimeException> releaseMembers(List<OwnedLease> held) {
    return taking.release(source.members(), held);
  }

  /** A thread enters each member, which may be held at other levels by itself. */
  @Override
  public void reenter(LeaseTerms terms) {
    ensureValid();
    if (taking.isThreads()) {
      taking.enter(source.members(), terms);
    } else {
      extendTo(terms);
    }
  }

  @Override
  public void exit(boolean renewed) {
    if (taking.isThreads()) {
      taking.leave(source.members());
    } else {
      setRenewed(renewed);
    }
  }

  @Override
  protected Asked askMembers(Consumer<OwnedLease> action) {
    int done = 0;
    List<RuntimeException> failures = new ArrayList<>();
    for (OwnedLease member : members()) {
      try {
        action.accept(member);
        done++;
      } catch (RuntimeException e) {
        failures.add(e);
      }
    }
    return new Asked(done, failures);
  }

  /** Of a handle nobody may be left who would give back the others; a thread has to unlock. */
  @Override
  protected void lost() {
    if (!taking.isThreads()) {
      try {
        var unused = source.submit(this::giveBackTheOthers);
      } catch (RejectedExecutionException closed) {
        giveBackTheOthers();
      }
    }
  }

  @Override
  protected void leftOver() {
    if (taking.isThreads()) {
      giveBackTheOthers();
    }
  }

  private void giveBackTheOthers() {
    for (RuntimeException e : releaseMembers(members())) {
      LOG.debug("lock '{}': given back after the loss of a member", lockName(), e);
    }
  }

  /** One member lost is all lost. */
  @Override
  protected void onMemberLost(int place, OwnedLease member) {}
}
