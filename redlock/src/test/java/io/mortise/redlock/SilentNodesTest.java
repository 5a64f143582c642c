package io.mortise.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease.State;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.LeaseTerms;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Nodes that do not answer, however often they are asked, block few threads. */
@Timeout(60)
class SilentNodesTest {
  private static final int SILENT_CALLS = 16;
  private static final Duration BUDGET = Duration.ofMillis(1);
  private static final LeaseTerms TERMS =
      LeaseTerms.of(LockOptions.defaults(), Duration.ZERO, null, true);

  private final List<FakeNode> nodes = Stream.of("a:1", "b:1", "c:1").map(FakeNode::new).toList();
  private final List<QuorumMember> ofNodes = nodes.stream().map(QuorumMember::of).toList();
  private final QuorumLeaseSource source = new QuorumLeaseSource(ofNodes, BUDGET);
  private final QuorumMembers members = new QuorumMembers(ofNodes, BUDGET);

  /** The calls that wait for a node. */
  private final Queue<Runnable> ofSecond = new ArrayDeque<>();

  private final Queue<Runnable> ofThird = new ArrayDeque<>();

  @Test
  void aSilentMajorityBlocksFewThreads() throws Exception {
    nodes.get(1).threads = ofSecond::add;
    nodes.get(2).threads = ofThird::add;

    for (int i = 0; i < 3 * SILENT_CALLS; i++) {
      QuorumRound round = new QuorumRound(source, members, TERMS, null);
      assertNull(round.run(null, 0, 0));
      assertNotNull(round.failure());
    }

    assertEquals(SILENT_CALLS, ofSecond.size());
    assertEquals(SILENT_CALLS, ofThird.size());
  }

  /** As a program does that looks at a lock again and again. */
  @Test
  void aQuestionToASilentMinorityBlocksFewThreads() {
    nodes.get(2).threads = ofThird::add;

    for (int i = 0; i < 3 * SILENT_CALLS; i++) {
      assertTrue(source.remainingLease().isEmpty());
      assertFalse(source.forceUnlock());
    }

    assertEquals(SILENT_CALLS, ofThird.size());
  }

  /** Many holds that were acquired before the node fell silent. */
  @Test
  void aReleaseAtASilentNodeIsMadeInTheBackground() {
    List<FakeNodeLease> leases = Stream.of("a", "b", "c").map(FakeNodeLease::new).toList();
    MajorityLease hold =
        new MajorityLease(
            source,
            members,
            leases,
            1,
            null,
            TERMS,
            new NodeReacquisition(source, members, null, 1_000));
    nodes.get(2).threads = ofThird::add;
    ofNodes.get(2).abandonedCalls().set(SILENT_CALLS);

    hold.release();

    assertEquals(0, ofThird.size());
    assertEquals(State.RELEASED, hold.state());
    for (FakeNodeLease lease : leases) {
      assertEquals(State.RELEASED, lease.state());
    }
    assertTrue(leases.get(2).inBackground);
    assertFalse(leases.get(0).inBackground);
  }
}
