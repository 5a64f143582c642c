package io.mortise.core.composite;

import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.spi.FakeLease;
import io.mortise.core.spi.FakeSource;
import io.mortise.core.spi.OwnedLease;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** A composite lease that releases its members one after the other. */
class FakeComposite extends CompositeLease {
  final AtomicInteger lost = new AtomicInteger();
  final AtomicInteger releasesAfterLoss = new AtomicInteger();
  final List<String> lostMembers = new CopyOnWriteArrayList<>();

  /** Runs before anything is released. */
  volatile Runnable beforeRelease = () -> {};

  volatile Runnable onLoss = () -> {};

  private final boolean membersMayOutlast;

  FakeComposite(FakeSource source, int required, Thread owner, List<FakeLease> members) {
    this(source, required, owner, members, false);
  }

  private FakeComposite(
      FakeSource source,
      int required,
      Thread owner,
      List<FakeLease> members,
      boolean membersMayOutlast) {
    super(source, members, required, 1, owner, true);
    this.membersMayOutlast = membersMayOutlast;
    watch();
  }

  /** A hold whose members may be held by others too. */
  static FakeComposite ofHeldElsewhere(FakeSource source, int required, FakeLease... members) {
    return new FakeComposite(source, required, null, List.of(members), true);
  }

  static FakeComposite of(FakeSource source, int required, FakeLease... members) {
    return new FakeComposite(source, required, null, List.of(members));
  }

  static LockException fault(String what) {
    return new LockException(Reason.UNREACHABLE, what, null);
  }

  /** One member for each letter: held, lost unnoticed (l), in doubt (d), failing (f), or none. */
  static FakeComposite of(FakeSource source, int required, String members) {
    FakeLease[] leases = new FakeLease[members.length()];
    for (int i = 0; i < leases.length; i++) {
      if (members.charAt(i) == '-') {
        continue;
      }
      FakeLease lease = new FakeLease("m" + i);
      leases[i] =
          switch (members.charAt(i)) {
            case 'l' -> lease.lostUnnoticed();
            case 'd' ->
                lease.failing(new LockException(Reason.IN_DOUBT, "m" + i + " is in doubt", null));
            case 'f' -> lease.failing(fault("m" + i + " does not answer"));
            default -> lease;
          };
    }
    return new FakeComposite(source, required, null, Arrays.asList(leases));
  }

  boolean joins(int place, FakeLease expected, FakeLease member) {
    return join(place, expected, member);
  }

  FakeLease at(int place) {
    return (FakeLease) member(place);
  }

  int valid() {
    return validMembers();
  }

  @Override
  protected List<RuntimeException> releaseMembers(List<OwnedLease> held) {
    beforeRelease.run();
    return MemberReplies.inTurn(held, OwnedLease::release).failures();
  }

  @Override
  protected boolean membersMayOutlast() {
    return membersMayOutlast;
  }

  @Override
  protected MemberReplies askMembers(Consumer<OwnedLease> action) {
    return MemberReplies.inTurn(members(), action);
  }

  @Override
  protected void lost() {
    lost.incrementAndGet();
    onLoss.run();
  }

  @Override
  protected void releaseAfterLoss() {
    releasesAfterLoss.incrementAndGet();
  }

  @Override
  protected void onMemberLost(int place, OwnedLease member) {
    lostMembers.add(place + " " + member.lockName());
  }
}
