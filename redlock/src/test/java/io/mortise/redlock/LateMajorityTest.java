package io.mortise.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease.State;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.LeaseTerms;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A majority that is no longer one when its round ends. */
class LateMajorityTest {
  private static final Duration HOUR = Duration.ofHours(1);

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
    assertTrue(thrown.getMessage().contains("before a majority had it"), thrown::getMessage);
    assertEquals(State.RELEASED, second.state());
  }

  @Test
  void thatHasLostAMemberBeforeItWasCompleteIsNoHold() {
    QuorumLeaseSource source =
        new QuorumLeaseSource(nodes.stream().map(QuorumMember::of).toList(), null);
    nodes.get(0).grants = () -> first;
    nodes.get(1).grants =
        () -> {
          first.lose();
          return second;
        };
    LeaseTerms terms = LeaseTerms.of(LockOptions.defaults(), Duration.ZERO, null, true);

    LockException thrown = assertThrows(LockException.class, () -> source.acquire(terms, null));

    assertEquals(
        "lock 'orders': it was lost before a majority had it: 'orders' at a:1: lost it: lost on"
            + " purpose",
        thrown.getMessage());
    assertEquals(State.RELEASED, second.state());
  }

  /** Between the count of the votes at the end of the budget and the end of the round. */
  @Test
  void thatIsCompleteAtTheLastMomentIsAHold() throws Exception {
    QuorumLeaseSource source =
        new QuorumLeaseSource(nodes.stream().map(QuorumMember::of).toList(), null);
    AtomicInteger reads = new AtomicInteger();
    Deque<Runnable> pending = new ArrayDeque<>();
    nodes.get(0).grants = () -> first;
    nodes.get(0).clock = // read when the wait begins, and twice when its end is looked for
        () ->
            System.nanoTime() + (pending.isEmpty() ? 0 : reads.getAndIncrement() * HOUR.toNanos());
    nodes.get(1).grants = () -> second;
    nodes.get(1).threads = pending::add;
    first.whenCounted =
        () -> {
          if (reads.get() > 2 && !pending.isEmpty()) {
            pending.remove().run();
          }
        };
    LeaseTerms terms = LeaseTerms.of(LockOptions.defaults(), Duration.ZERO, null, true);

    assertTrue(source.acquire(terms, null).isPresent());
  }
}
