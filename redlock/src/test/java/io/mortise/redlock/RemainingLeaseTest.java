package io.mortise.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.LockOptions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** How long a quorum is held, asked of nodes of which one answers late. */
class RemainingLeaseTest {
  private static final Duration DELAY = Duration.ofSeconds(4);

  private final List<FakeNode> nodes = Stream.of("a:1", "b:1", "c:1").map(FakeNode::new).toList();
  private final AtomicLong clock = new AtomicLong();
  private final QuorumLeaseSource source =
      new QuorumLeaseSource(nodes.stream().map(QuorumMember::of).toList(), Duration.ofMinutes(1));

  private void answer(Duration first, Duration second, Duration third) {
    nodes.get(0).clock = clock::get;
    nodes.get(0).left = () -> Optional.of(first);
    nodes.get(1).left = () -> Optional.of(second);
    nodes.get(2).left =
        () -> {
          clock.addAndGet(DELAY.toNanos());
          return Optional.of(third);
        };
  }

  @Test
  void theTimeSinceTheQuestionIsTakenOff() {
    answer(Duration.ofSeconds(10), Duration.ofSeconds(9), Duration.ofSeconds(3));

    assertEquals(Optional.of(Duration.ofSeconds(5)), source.remainingLease());
  }

  @Test
  void leasesThatAreOverSinceTheQuestionDoNotCount() {
    answer(Duration.ofSeconds(10), DELAY, DELAY);

    assertEquals(Optional.empty(), source.remainingLease());
  }

  @Test
  void aHoldWithoutAnEndStaysOne() {
    answer(LockOptions.MAX_LEASE, LockOptions.MAX_LEASE, DELAY);

    assertEquals(Optional.of(LockOptions.MAX_LEASE), source.remainingLease());
  }
}
