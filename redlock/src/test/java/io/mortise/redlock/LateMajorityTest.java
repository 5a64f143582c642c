package io.mortise.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.core.Lease.State;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.LeaseTerms;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A majority that is no longer one when its round ends. */
class LateMajorityTest {
  private final List<FakeNode> nodes = Stream.of("a:1", "b:1", "c:1").map(FakeNode::new).toList();
  private final FakeNodeLease first = new FakeNodeLease("a");
  private final FakeNodeLease second = new FakeNodeLease("b");

  @Test
  void isNoHold() {
    QuorumLeaseSource source =
        new QuorumLeaseSource(nodes.stream().map(QuorumMember::of).toList(), null);
    nodes.get(0).grants = () -> first.whenWatched(first::lose); // its token is written by then
    nodes.get(1).grants = () -> second;
    LeaseTerms terms = LeaseTerms.of(LockOptions.defaults(), Duration.ZERO, null, true);

    LockException thrown = assertThrows(LockException.class, () -> source.acquire(terms, null));

    assertEquals(Reason.UNREACHABLE, thrown.reason());
    assertEquals(State.RELEASED, second.state());
  }
}
