package io.mortise.core.spi;

import io.mortise.core.composite.CompositeLease;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** A joint lease that gives its members back one behind the other. */
final class FakeJoint extends CompositeLease {
  final AtomicInteger lost = new AtomicInteger();
  final AtomicInteger leftOver = new AtomicInteger();
  final List<String> lostMembers = new CopyOnWriteArrayList<>();

  /** Before anything is given back. */
  volatile Runnable beforeGivingBack = () -> {};

  volatile Runnable onLoss = () -> {};

  FakeJoint(FakeSource source, int required, Thread owner, List<FakeLease> members) {
    super(source, members, required, 1, owner, true);
    watch();
  }

  static FakeJoint of(FakeSource source, int required, FakeLease... members) {
    return new FakeJoint(source, required, null, List.of(members));
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
    beforeGivingBack.run();
    return all(held, OwnedLease::release);
  }

  @Override
  protected Asked askMembers(Consumer<OwnedLease> action) {
    List<RuntimeException> failures = all(members(), action);
    return new Asked(members().size() - failures.size(), failures);
  }

  private static List<RuntimeException> all(List<OwnedLease> held, Consumer<OwnedLease> action) {
    List<RuntimeException> failures = new ArrayList<>();
    for (OwnedLease lease : held) {
      try {
        action.accept(lease);
      } catch (RuntimeException e) {
        failures.add(e);
      }
    }
    return failures;
  }

  @Override
  protected void lost() {
    lost.incrementAndGet();
    onLoss.run();
  }

  @Override
  protected void leftOver() {
    leftOver.incrementAndGet();
  }

  @Override
  protected void onMemberLost(int place, OwnedLease member) {
    lostMembers.add(place + " " + member.lockName());
  }
}
