package io.mortise.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * A hold of four of five nodes that a forced release ends. The release has hit three nodes, one of
 * them that which the hold was missing; the hold learns of it node by node.
 */
class ForcedNodesTest {
  private static final int MISSING = 4;

  private final List<FakeNode> nodes =
      Stream.of("a:1", "b:1", "c:1", "d:1", "e:1").map(FakeNode::new).toList();
  private final FakeNode missing = nodes.get(MISSING);
  private final List<QuorumMember> ofNodes = nodes.stream().map(QuorumMember::of).toList();
  private final List<FakeNodeLease> leases =
      Stream.of("a", "b", "c", "d").map(FakeNodeLease::new).toList();
  private final FakeNodeLease again = new FakeNodeLease("e");
  private final MajorityLease hold = hold();

  private MajorityLease hold() {
    QuorumLeaseSource source = new QuorumLeaseSource(ofNodes, null);
    QuorumMembers members = new QuorumMembers(ofNodes, null);
    List<@Nullable OwnedLease> held = new ArrayList<>(leases);
    held.add(null);
    return new MajorityLease(
        source,
        members,
        held,
        1,
        null,
        LeaseTerms.of(LockOptions.defaults(), Duration.ZERO, null, true),
        new NodeReacquisition(source, members, null, 1_000));
  }

  private void attempt() {
    assertEquals(1, missing.scheduled.size());
    missing.scheduled.remove().run();
  }

  private void assertEnds() {
    assertNull(hold.leaseAt(MISSING));
    assertEquals(0, missing.scheduled.size(), "no other attempt");

    leases.get(1).lose(Reason.FORCED);

    assertFalse(hold.isValid());
  }

  @Test
  void anAttemptFromBeforeDoesNotAskTheMissingNode() {
    missing.grants = () -> again;

    leases.get(0).lose(Reason.FORCED);
    attempt();

    assertEnds();
    assertTrue(again.isValid(), "never asked for");
  }

  @Test
  void aNodeThatIsReacquiredMeanwhileDoesNotJoin() {
    missing.grants =
        () -> {
          leases.get(0).lose(Reason.FORCED);
          return again;
        };

    attempt();

    assertEnds();
    assertFalse(again.isValid(), "released");
  }

  /** It was forced between its grant and its joining: no member says so. */
  @Test
  void aNodeThatWasForcedBeforeItJoinsIsNotReacquired() {
    again.lose(Reason.FORCED);
    assertFalse(hold.addMember(MISSING, null, again));
    FakeNodeLease more = new FakeNodeLease("e");
    missing.grants = () -> more;

    attempt();

    assertTrue(more.isValid(), "never asked for");
    leases.get(0).lose(Reason.FORCED);
    assertEnds();
  }

  @Test
  void aLateGrantDoesNotJoin() {
    leases.get(0).lose(Reason.FORCED);

    assertFalse(hold.addMember(MISSING, null, again));

    assertFalse(again.isValid(), "released");
    missing.scheduled.clear();
    assertEnds();
  }
}
