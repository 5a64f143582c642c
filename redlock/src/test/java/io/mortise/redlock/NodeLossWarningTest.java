package io.mortise.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The thread that tells a hold of the loss of a node does not log it: a log may block, and few
 * threads tell all holds of a client.
 */
class NodeLossWarningTest {
  private final List<FakeNode> nodes = Stream.of("a:1", "b:1", "c:1").map(FakeNode::new).toList();
  private final List<FakeNodeLease> leases =
      Stream.of("a", "b", "c").map(FakeNodeLease::new).toList();

  /** The tasks that a thread of a client is to run. */
  private final Queue<Runnable> tasks = new ArrayDeque<>();

  private MajorityLease hold() {
    return hold(leases.get(2));
  }

  private MajorityLease hold(@Nullable OwnedLease third) {
    List<QuorumMember> ofNodes = nodes.stream().map(QuorumMember::of).toList();
    QuorumLeaseSource source = new QuorumLeaseSource(ofNodes, null);
    QuorumMembers members = new QuorumMembers(ofNodes, null);
    List<@Nullable OwnedLease> held = new ArrayList<>(leases.subList(0, 2));
    held.add(third);
    return new MajorityLease(
        source,
        members,
        held,
        1,
        null,
        LeaseTerms.of(LockOptions.defaults(), Duration.ZERO, null, true),
        new NodeReacquisition(source, members, null, 1_000));
  }

  @Test
  void itIsLoggedOnceByAnotherThread() {
    MajorityLease hold = hold();
    nodes.forEach(node -> node.threads = tasks::add);

    leases.get(2).lose();
    leases.get(2).lose(); // the hold is told again

    assertTrue(hold.isValid());
    assertEquals(1, tasks.size(), "the warning");
    tasks.remove().run();
    assertEquals(2, hold.validNodes());
  }

  /**
   * An attempt that was scheduled before the node granted late finds it lost, and fills its place.
   */
  @Test
  void itIsLoggedOnceAlsoIfTheNodeIsReacquiredBeforeTheHoldIsNotified() {
    FakeNode node = nodes.get(2);
    FakeNodeLease late = leases.get(2);
    MajorityLease hold = hold(null);
    assertTrue(hold.addMember(2, null, late));
    late.loseUnnoticed(Reason.MISSING);
    FakeNodeLease again = new FakeNodeLease("again");
    node.grants = () -> again;
    nodes.forEach(each -> each.threads = tasks::add);

    node.scheduled.remove().run();
    late.notifyLoss();

    assertSame(again, hold.leaseAt(2));
    assertEquals(1, tasks.size(), "the warning");
  }

  @Test
  void itIsLoggedOnceIfTheNodeIsReacquiredAfterThat() {
    MajorityLease hold = hold();
    nodes.forEach(each -> each.threads = tasks::add);
    leases.get(2).lose();
    FakeNodeLease again = new FakeNodeLease("again");
    nodes.get(2).grants = () -> again;

    nodes.get(2).scheduled.remove().run();

    assertSame(again, hold.leaseAt(2));
    assertEquals(1, tasks.size(), "the warning");
  }
}
