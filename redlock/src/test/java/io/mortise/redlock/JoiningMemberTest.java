package io.mortise.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockOptions;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A node that is reacquired, or grants late, gets what the other nodes of the hold have. */
class JoiningMemberTest {
  private static final LeaseTerms RENEWED =
      LeaseTerms.of(LockOptions.defaults(), Duration.ZERO, null, true);

  /** The place that is empty at first: before the other two. */
  private static final int PLACE = 0;

  private final List<FakeNode> nodes = Stream.of("a:1", "b:1", "c:1").map(FakeNode::new).toList();
  private final FakeNodeLease first = new FakeNodeLease("b");
  private final FakeNodeLease second = new FakeNodeLease("c");
  private final FakeNodeLease joining = new FakeNodeLease("a");

  private MajorityLease hold(LeaseTerms terms) {
    List<QuorumMember> ofNodes = nodes.stream().map(QuorumMember::of).toList();
    QuorumLeaseSource source = new QuorumLeaseSource(ofNodes, null);
    QuorumMembers members = new QuorumMembers(ofNodes, null);
    List<@Nullable OwnedLease> leases = new ArrayList<>();
    leases.add(null);
    leases.add(first);
    leases.add(second);
    NodeReacquisition reacquisition = new NodeReacquisition(source, members, null, 1_000);
    return new MajorityLease(source, members, leases, 1, null, terms, reacquisition);
  }

  @Test
  void itIsNotRenewedAfterTheMaxHoldOfTheHoldWhateverIsRequested() {
    LockOptions limited = LockOptions.builder().maxHold(Duration.ofMinutes(1)).build();
    nodes.forEach(node -> node.options = limited);
    MajorityLease hold = hold(RENEWED);
    assertTrue(hold.addMember(PLACE, null, joining));
    assertTrue(joining.isRenewed());

    nodes.get(1).scheduled.remove().run(); // at the end of maxHold
    hold.reenter(RENEWED);
    hold.exit(true);

    assertFalse(hold.isRenewed());
    assertFalse(joining.isRenewed(), "it is younger, and would be renewed for longer");
  }

  @Test
  void maxHoldDoesNotConcernAHoldWithALeaseOfItsOwn() {
    Duration maxHold = Duration.ofMinutes(1);
    LockOptions limited = LockOptions.builder().maxHold(maxHold).build();
    nodes.forEach(node -> node.options = limited);
    List<FakeNodeLease> granted = List.of(first, second);
    granted.forEach(member -> member.setRenewed(false));
    var unused = hold(LeaseTerms.of(limited, Duration.ZERO, maxHold.multipliedBy(2), true));

    nodes.get(1).scheduled.remove().run(); // at the end of maxHold

    granted.forEach(member -> assertFalse(member.isStopped(), "it was told to be at risk"));
  }

  @Test
  void aRenewalThatBeginsAfterMaxHoldEndsInTheLastLease() {
    Duration maxHold = Duration.ofMinutes(1);
    LockOptions limited = LockOptions.builder().maxHold(maxHold).build();
    nodes.forEach(node -> node.options = limited);
    List<FakeNodeLease> granted = List.of(first, second);
    granted.forEach(member -> member.remaining = maxHold);
    MajorityLease hold = hold(LeaseTerms.of(limited, Duration.ZERO, maxHold.multipliedBy(2), true));
    nodes.get(1).scheduled.remove().run(); // at the end of maxHold
    hold.reenter(RENEWED);
    assertTrue(hold.isRenewed());

    nodes.get(1).scheduled.remove().run();

    assertTrue(hold.isRenewed());
    granted.forEach(member -> assertFalse(member.isStopped(), "it was told to be at risk"));

    granted.forEach(member -> member.remaining = limited.lease());
    nodes.get(1).scheduled.remove().run();

    assertFalse(hold.isRenewed());
  }

  /**
   * Each member is renewed for the lease of its client, so more than the shortest is always left.
   */
  @Test
  void maxHoldEndsTheRenewalAlsoIfOneClientHasAShorterLease() {
    LockOptions limited =
        LockOptions.builder().lease(Duration.ofSeconds(10)).maxHold(Duration.ofMinutes(1)).build();
    nodes.get(1).options = limited;
    List.of(first, second).forEach(member -> member.remaining = Duration.ofSeconds(25));
    MajorityLease hold = hold(RENEWED);

    nodes.get(1).scheduled.remove().run(); // at the end of maxHold

    assertFalse(hold.isRenewed());
  }

  @Test
  void maxHoldEndsTheRenewalAlsoAfterAnErrorAtThatMoment() {
    LockOptions limited = LockOptions.builder().maxHold(Duration.ofMinutes(1)).build();
    nodes.forEach(node -> node.options = limited);
    MajorityLease hold = hold(RENEWED);
    first.whenMeasured =
        () -> {
          first.whenMeasured = () -> {};
          throw new OutOfMemoryError("on purpose");
        };
    Runnable atMaxHold = nodes.get(1).scheduled.remove();
    assertThrows(OutOfMemoryError.class, atMaxHold::run);
    assertTrue(hold.isRenewed());

    nodes.get(1).scheduled.remove().run();

    assertFalse(hold.isRenewed());
    assertEquals(0, nodes.get(1).scheduled.size(), "nothing is left to look at");
  }

  @Test
  void itLastsAsLongAsAnOuterLevelThatIsNotRenewedAskedFor() {
    Duration lease = Duration.ofMinutes(10);
    for (FakeNodeLease granted : List.of(first, second)) {
      granted.remaining = lease;
      granted.setRenewed(false);
    }
    MajorityLease hold = hold(LeaseTerms.of(LockOptions.defaults(), Duration.ZERO, lease, true));
    hold.reenter(RENEWED);
    assertTrue(hold.addMember(PLACE, null, joining));
    assertTrue(joining.isRenewed());

    hold.exit(false);

    assertFalse(joining.isRenewed());
    assertEquals(lease, joining.remaining());
  }

  @Test
  void itHasTheTokenOfARaiseThatCameBeforeItJoined() {
    MajorityLease hold = hold(RENEWED);
    joining.whenRaised(() -> assertTrue(hold.raiseToken(100)));

    assertTrue(hold.addMember(PLACE, null, joining));

    assertEquals(100, joining.fencingToken());
  }

  @Test
  void itHasTheTokenOfARaiseThatIsUnderWayWhenItJoins() {
    MajorityLease hold = hold(RENEWED);
    second.whenRaised(() -> assertTrue(hold.addMember(PLACE, null, joining)));

    assertTrue(hold.raiseToken(100));

    assertEquals(100, joining.fencingToken());
  }
}
