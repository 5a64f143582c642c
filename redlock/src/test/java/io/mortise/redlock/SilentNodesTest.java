package io.mortise.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease.State;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Nodes that do not answer block few threads, however often they are asked; others are asked. */
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

  private final AtomicLong clock = new AtomicLong();

  @BeforeEach
  void setClock() {
    nodes.get(1).clock = clock::get;
    nodes.get(2).clock = clock::get;
  }

  @Test
  void aSilentMajorityBlocksFewThreads() throws Exception {
    nodes.get(1).threads = ofSecond::add;
    nodes.get(2).threads = ofThird::add;

    for (int i = 0; i < 3 * SILENT_CALLS; i++) {
      QuorumRound round = new QuorumRound(source, members, TERMS, null);
      assertNull(round.run(null, 0, 0));
      assertNotNull(round.failure());
      clock.addAndGet(BUDGET.toNanos());
    }

    assertEquals(SILENT_CALLS + 1, ofSecond.size(), "one more makes sure");
    assertEquals(SILENT_CALLS + 1, ofThird.size());
  }

  /** As a program does that looks at a lock again and again. */
  @Test
  void aQuestionToASilentMinorityBlocksFewThreads() {
    nodes.get(2).threads = ofThird::add;

    for (int i = 0; i < 3 * SILENT_CALLS; i++) {
      assertTrue(source.remainingLease().isEmpty());
      assertFalse(source.forceUnlock());
      clock.addAndGet(BUDGET.toNanos());
    }

    assertEquals(SILENT_CALLS + 2, ofThird.size(), "two questions at that moment make sure");
  }

  private static void abandonManyCalls(QuorumMember member) {
    for (int i = 0; i < SILENT_CALLS; i++) {
      member.onAbandoned();
    }
  }

  /** Otherwise a pause of this process would seem to be their silence. */
  @Test
  void whoFirstFindsANodeSilentAsksNevertheless() {
    QuorumMember second = ofNodes.get(1);
    abandonManyCalls(second);
    clock.addAndGet(10 * BUDGET.toNanos());

    assertFalse(second.isSilent(BUDGET.toNanos()), "the first caller");
    clock.addAndGet(BUDGET.toNanos() / 4 - 1);
    assertFalse(second.isSilent(BUDGET.toNanos()), "others soon after it");
    clock.addAndGet(1);
    assertTrue(second.isSilent(BUDGET.toNanos()), "no reply has been read since");
    second.onReply();
    clock.addAndGet(10 * BUDGET.toNanos());
    assertFalse(second.isSilent(BUDGET.toNanos()), "another silence");
  }

  @Test
  void aNodeIsNotSilentBeforeABudgetHasPassedSinceItsReply() {
    QuorumMember second = ofNodes.get(1);
    abandonManyCalls(second);
    second.onReply();
    clock.addAndGet(BUDGET.toNanos() / 2);
    assertFalse(second.isSilent(BUDGET.toNanos()));
    clock.addAndGet(BUDGET.toNanos() / 2 - 1);
    assertFalse(second.isSilent(BUDGET.toNanos()));
  }

  private void thirdFallsSilent() {
    abandonManyCalls(ofNodes.get(2));
    clock.addAndGet(BUDGET.toNanos());
    assertFalse(ofNodes.get(2).isSilent(BUDGET.toNanos()));
    clock.addAndGet(BUDGET.toNanos());
  }

  /** Many holds that were acquired before the node fell silent. */
  @Test
  void aReleaseAtASilentNodeIsMadeInTheBackground() {
    List<FakeNodeLease> leases = Stream.of("a", "b", "c").map(FakeNodeLease::new).toList();
    MajorityLease hold = holdOf(leases);
    nodes.get(2).threads = ofThird::add;
    thirdFallsSilent();

    hold.release();

    assertEquals(0, ofThird.size());
    assertEquals(State.RELEASED, hold.state());
    for (FakeNodeLease lease : leases) {
      assertEquals(State.RELEASED, lease.state());
    }
    assertTrue(leases.get(2).inBackground);
    assertFalse(leases.get(0).inBackground);
  }

  /** The others confirm that they held it. */
  @Test
  void aReleaseIsNotInDoubtForASilentNodeThatHasLostTheHoldBefore() {
    List<FakeNodeLease> leases = Stream.of("a", "b", "c").map(FakeNodeLease::new).toList();
    MajorityLease hold = holdOf(leases);
    nodes.get(2).threads = ofThird::add;
    leases.get(2).lose();
    thirdFallsSilent();

    hold.release();

    assertEquals(State.RELEASED, hold.state());
    assertTrue(leases.get(2).inBackground);
  }

  private MajorityLease holdOf(List<? extends @Nullable OwnedLease> leases) {
    return new MajorityLease(
        source,
        members,
        leases,
        1,
        null,
        TERMS,
        new NodeReacquisition(source, members, null, 1_000));
  }

  /** Otherwise unlock() would be in doubt, although all servers answer. */
  @Test
  void aHoldOfTwoMembersIsReleasedAtOnceAlsoWhileManyRoundsAskItsNodes() {
    FakeNodeLease first = new FakeNodeLease("a");
    FakeNodeLease third = new FakeNodeLease("c");
    MajorityLease hold = holdOf(Arrays.asList(first, null, third));
    for (int i = 0; i < 3 * SILENT_CALLS; i++) {
      ofNodes.get(2).onAbandoned(); // by a round that the others have decided
    }

    hold.release();

    assertEquals(State.RELEASED, third.state());
    assertFalse(third.inBackground);
  }
}
