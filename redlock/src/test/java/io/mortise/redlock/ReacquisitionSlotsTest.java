package io.mortise.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** An open slot always has an attempt, and one that was forced has none. */
class ReacquisitionSlotsTest {
  private static final int PLACE = 2;

  private final List<FakeNode> nodes = Stream.of("a:1", "b:1", "c:1").map(FakeNode::new).toList();
  private final FakeNode node = nodes.get(PLACE);
  private final List<QuorumMember> ofNodes = nodes.stream().map(QuorumMember::of).toList();
  private final QuorumLeaseSource source = new QuorumLeaseSource(ofNodes, null);
  private final QuorumMembers members = new QuorumMembers(ofNodes, null);
  private final FakeNodeLease first = new FakeNodeLease("a");
  private final FakeNodeLease second = new FakeNodeLease("b");
  private final FakeNodeLease late = new FakeNodeLease("late");

  /** A hold on the first two nodes, and perhaps on the third. */
  private MajorityLease hold(@Nullable OwnedLease third) {
    return hold(third, null);
  }

  private MajorityLease hold(@Nullable OwnedLease third, @Nullable Thread owner) {
    return hold(source, third, owner, null);
  }

  private MajorityLease hold(
      QuorumLeaseSource of,
      @Nullable OwnedLease third,
      @Nullable Thread owner,
      @Nullable Duration lease) {
    List<@Nullable OwnedLease> leases = new ArrayList<>(List.of(first, second));
    leases.add(third);
    LeaseTerms terms = LeaseTerms.of(of.options(), Duration.ZERO, lease, true);
    NodeReacquisition reacquisition = new NodeReacquisition(of, members, owner, 1_000);
    return new MajorityLease(of, members, leases, 1, owner, terms, reacquisition);
  }

  /** Runs the attempt that is scheduled: exactly one. */
  private void attempt() {
    assertEquals(1, node.scheduled.size());
    node.scheduled.remove().run();
  }

  private void assertReacquired(MajorityLease hold) {
    FakeNodeLease again = new FakeNodeLease("again");
    node.grants = () -> again;
    attempt();
    assertSame(again, hold.leaseAt(PLACE));
    assertEquals(3, hold.validNodes());
    assertEquals(0, node.scheduled.size(), "a filled slot has no attempt");
  }

  /** As a member of a hold that is lost. */
  @Test
  void aHoldThatIsReleasedInTheBackgroundReacquiresNothing() {
    MajorityLease hold = hold(null);
    assertEquals(1, node.scheduled.size());

    hold.releaseInBackground();

    assertEquals(0, node.scheduled.size());
    assertEquals(Lease.State.RELEASED, hold.state());
    for (FakeNodeLease lease : List.of(first, second)) {
      assertEquals(Lease.State.RELEASED, lease.state());
      assertTrue(lease.inBackground);
    }
  }

  @Test
  void aLateGrantDuringAnAttemptThenALoss() {
    MajorityLease hold = hold(null);
    node.grants =
        () -> {
          assertTrue(hold.addMember(PLACE, null, late));
          return null;
        };
    attempt();
    assertSame(late, hold.leaseAt(PLACE));

    late.lose();

    assertReacquired(hold);
  }

  @Test
  void aLateGrantBeforeAnAttemptThenALoss() {
    MajorityLease hold = hold(null);
    assertTrue(hold.addMember(PLACE, null, late));
    attempt();
    assertEquals(0, node.scheduled.size());

    late.lose();

    assertReacquired(hold);
  }

  @Test
  void aLossAtTheMomentWhenALateGrantJoins() {
    MajorityLease hold = hold(null);

    hold.addMember(PLACE, null, late.whenWatched(late::lose));

    assertReacquired(hold);
  }

  @Test
  void aLossAtTheMomentWhenTheNodeIsReacquired() {
    MajorityLease hold = hold(null);
    node.grants = () -> late.whenWatched(late::lose);
    attempt();

    assertReacquired(hold);
  }

  @Test
  void aNodeThatWasForcedIsNotReacquired() {
    MajorityLease hold = hold(late);

    late.lose(Reason.FORCED);

    assertStaysEmpty(hold);
  }

  /** The attempt was scheduled when the node had not granted yet. */
  @Test
  void aNodeThatWasForcedIsNotReacquiredByAnAttemptFromBefore() {
    MajorityLease hold = hold(null);
    assertTrue(hold.addMember(PLACE, null, late));
    late.lose(Reason.FORCED);

    node.grants = () -> new FakeNodeLease("again");
    attempt();

    assertStaysEmpty(hold);
  }

  /** The node grants to the attempt when its late grant has come and gone. */
  @Test
  void aNodeThatWasForcedIsNotReacquiredByAnAttemptInProgress() {
    MajorityLease hold = hold(null);
    FakeNodeLease again = new FakeNodeLease("again");
    node.grants =
        () -> {
          assertTrue(hold.addMember(PLACE, null, late));
          late.lose(Reason.FORCED);
          return again;
        };
    attempt();

    assertStaysEmpty(hold);
    assertFalse(again.isValid(), "released");
  }

  private void assertStaysEmpty(MajorityLease hold) {
    assertEquals(0, node.scheduled.size());
    assertSame(late, hold.leaseAt(PLACE));
    assertEquals(2, hold.validNodes());
  }

  @Test
  void anAttemptThatFailsUnexpectedlyIsFollowedByAnother() {
    MajorityLease hold = hold(null);
    node.grants =
        () -> {
          throw new IllegalStateException("on purpose");
        };
    attempt();

    assertReacquired(hold);
  }

  @Test
  void anAttemptWithoutMemoryForTheNextOneSchedulesItLater() {
    MajorityLease hold = hold(null);
    FakeNode dice = nodes.get(0);
    node.grants =
        () -> {
          dice.random = // asked before the next attempt is scheduled
              () -> {
                dice.random = Math::random;
                throw new OutOfMemoryError("on purpose");
              };
          return null;
        };
    attempt();

    assertReacquired(hold);
  }

  @Test
  void severalLossesInARow() {
    MajorityLease hold = hold(late);
    late.lose();
    for (int i = 0; i < 5; i++) {
      assertReacquired(hold);
      ((FakeNodeLease) Objects.requireNonNull(hold.leaseAt(PLACE))).lose();
    }
    assertReacquired(hold);
  }

  @Test
  void aHoldThatHasEndedHasNoAttempts() {
    MajorityLease hold = hold(null);
    assertEquals(1, node.scheduled.size());

    hold.release();

    assertEquals(0, node.scheduled.size());
    assertFalse(hold.addMember(PLACE, null, late));
    assertEquals(0, node.scheduled.size());
  }

  @Test
  void aHoldWhoseThreadHasDiedHasNoAttempts() throws Exception {
    Thread owner = new Thread(() -> {});
    owner.start();
    owner.join();

    MajorityLease hold = hold(late, owner);
    late.lose();

    assertEquals(2, hold.validNodes());
    assertEquals(0, node.scheduled.size());
  }

  private static final Duration MAX_HOLD = Duration.ofMinutes(1);

  /** Returns a hold that has lasted for {@link #MAX_HOLD}. */
  private MajorityLease oldHold(@Nullable Duration lease) {
    LockOptions limited = LockOptions.builder().maxHold(MAX_HOLD).build();
    nodes.forEach(each -> each.options = limited);
    MajorityLease hold = hold(new QuorumLeaseSource(ofNodes, null), late, null, lease);
    nodes.get(0).clock = () -> System.nanoTime() + MAX_HOLD.toNanos();
    node.scheduled.remove().run(); // at the end of maxHold
    return hold;
  }

  @Test
  void aHoldThatHasLastedMaxHoldHasNoAttempts() {
    MajorityLease hold = oldHold(null);

    late.lose();

    assertStaysEmpty(hold);
  }

  /** maxHold is no limit of a lease that the caller has given. */
  @Test
  void aHoldWithALeaseOfItsOwnIsCompletedAlsoAfterMaxHold() {
    MajorityLease hold = oldHold(MAX_HOLD.multipliedBy(3));
    late.lose();

    FakeNodeLease again = new FakeNodeLease("again");
    node.grants = () -> again;
    node.scheduled.removeLast().run();

    assertSame(again, hold.leaseAt(PLACE));
    assertEquals(3, hold.validNodes());
  }

  /** A renewal asks for the lease of the acquisition, and this one would go on for longer. */
  @Test
  void aNodeIsReacquiredForTheLeaseOfItsClientAndLastsAsLongAsTheHold() {
    LockOptions options = LockOptions.defaults();
    Duration lease = options.lease().multipliedBy(20);
    for (FakeNodeLease granted : List.of(first, second)) {
      granted.remaining = lease;
      granted.setRenewed(false);
    }
    MajorityLease hold = hold(source, late, null, lease);
    late.lose();
    FakeNodeLease again = new FakeNodeLease("again");
    again.setRenewed(false);
    node.grants = () -> again;

    attempt();

    assertSame(again, hold.leaseAt(PLACE));
    LeaseTerms asked = Objects.requireNonNull(node.asked);
    assertFalse(asked.renewed());
    assertEquals(options.lease().toMillis(), asked.leaseMillis());
    assertEquals(lease, again.remaining());
  }

  @Test
  void aNodeIsReacquiredForTheRestOfAShortLease() {
    Duration rest = Duration.ofSeconds(3);
    for (FakeNodeLease granted : List.of(first, second)) {
      granted.remaining = rest;
      granted.setRenewed(false);
    }
    var unused = hold(source, late, null, Duration.ofSeconds(5));
    late.lose();

    attempt();

    assertEquals(rest.toMillis(), Objects.requireNonNull(node.asked).leaseMillis());
  }

  @Test
  void aMemberThatJoinsAfterTheRenewalEndedIsNotRenewed() {
    MajorityLease hold = hold(null);
    hold.setRenewed(false);

    assertTrue(hold.addMember(PLACE, null, late));

    assertFalse(late.isRenewed());
  }

  /** A node answers late; its thread is about to set what the hold has asked for since. */
  @Test
  void aMemberWhoseAnswerMeetsAnotherRequestHasTheRenewalOfTheHold() {
    MajorityLease hold = hold(late);
    hold.setRenewed(false);
    late.beforeRenewalEnds(() -> hold.setRenewed(true));

    hold.verifyNow();

    assertTrue(hold.isRenewed());
    assertTrue(late.isRenewed());
  }
}
