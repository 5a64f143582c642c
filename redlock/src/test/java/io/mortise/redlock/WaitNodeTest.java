package io.mortise.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.LeaseTerms;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The node at which a wait goes on after a round without a majority. */
class WaitNodeTest {
  private final List<FakeNode> nodes = Stream.of("a:1", "b:1", "c:1").map(FakeNode::new).toList();

  private QuorumRound lostRound() throws InterruptedException {
    List<QuorumMember> members = nodes.stream().map(QuorumMember::of).toList();
    QuorumLeaseSource source = new QuorumLeaseSource(members, null);
    LeaseTerms terms = LeaseTerms.of(LockOptions.defaults(), Duration.ZERO, null, true);
    QuorumRound round = new QuorumRound(source, new QuorumMembers(members, null), terms, null);
    assertNull(round.run(null, 0, 0));
    return round;
  }

  /** The node that has granted has no holder whose release would wake the waiter. */
  @Test
  void whenAMajorityHasRefusedItIsTheFirstOfThose() throws Exception {
    nodes.get(0).grants = () -> new FakeNodeLease("a");

    assertEquals(1, lostRound().preferredWaitNode());
  }

  @Test
  void whenTheVotesAreSplitItIsTheFirstThatHasAnswered() throws Exception {
    nodes.get(0).grants =
        () -> {
          throw new LockException(Reason.UNREACHABLE, "on purpose", null);
        };
    nodes.get(1).grants = () -> new FakeNodeLease("b");

    assertEquals(1, lostRound().preferredWaitNode());
  }
}
