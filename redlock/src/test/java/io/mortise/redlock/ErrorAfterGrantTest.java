package io.mortise.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.core.Lease.State;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.CallerWait;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * An {@link Error} between the grant of a node and the round that uses it: the node is released.
 */
class ErrorAfterGrantTest {
  private final List<FakeNode> nodes = Stream.of("a:1", "b:1", "c:1").map(FakeNode::new).toList();
  private final FakeNodeLease granted = new FakeNodeLease("a");

  private static LeaseTerms waiting(Duration wait) {
    return LeaseTerms.of(LockOptions.defaults(), wait, null, true);
  }

  private static Error onPurpose() {
    return new OutOfMemoryError("on purpose");
  }

  @Test
  void betweenTheWaitAtANodeAndTheNextRound() {
    QuorumLeaseSource source =
        new QuorumLeaseSource(nodes.stream().map(QuorumMember::of).toList(), null);
    FakeNode first = nodes.get(0);
    Supplier<@Nullable OwnedLease> grantAndFail =
        () -> {
          first.clock =
              () -> {
                first.clock = System::nanoTime;
                throw onPurpose();
              };
          return granted;
        };
    Supplier<@Nullable OwnedLease> refuse =
        () -> {
          first.grants = grantAndFail; // the next request is the wait at this node
          return null;
        };
    first.grants = refuse;

    assertThrows(
        OutOfMemoryError.class, () -> source.acquire(waiting(Duration.ofMinutes(1)), null));

    assertEquals(State.RELEASED, granted.state());
  }

  @Test
  void whileTheNodeIsAskedForItsId() {
    FakeNode node = nodes.get(0);
    node.grants = () -> granted;
    node.serverIds =
        () -> {
          throw onPurpose();
        };

    assertThrows(
        OutOfMemoryError.class, () -> QuorumMember.of(node).acquire(waiting(Duration.ZERO), null));

    assertEquals(State.RELEASED, granted.state());
  }

  /** As one whose interrupt closes a socket, and may not. */
  private final class RefusesInterrupt extends Thread {
    private final AtomicReference<Throwable> thrown = new AtomicReference<>();

    @Override
    public void interrupt() {
      if (isCalledBy(CallerWait.class)) { // and not by a class loader
        throw new SecurityException("on purpose");
      }
      super.interrupt();
    }

    @Override
    public void run() {
      interrupt();
      LeaseTerms uninterruptible =
          LeaseTerms.of(LockOptions.defaults(), Duration.ZERO, null, false);
      try {
        new QuorumLeaseSource(nodes.stream().map(QuorumMember::of).toList(), null)
            .acquire(uninterruptible, this);
      } catch (Throwable e) {
        thrown.set(e);
      }
    }
  }

  private static boolean isCalledBy(Class<?> caller) {
    return StackWalker.getInstance()
        .walk(frames -> frames.anyMatch(each -> each.getClassName().equals(caller.getName())));
  }

  @Test
  void inTheInterruptThatTheThreadHasMissed() throws Exception {
    List<FakeNodeLease> leases = Stream.of("a", "b", "c").map(FakeNodeLease::new).toList();
    for (int i = 0; i < leases.size(); i++) {
      FakeNodeLease lease = leases.get(i);
      nodes.get(i).grants = () -> lease;
    }
    RefusesInterrupt thread = new RefusesInterrupt();
    thread.start();
    thread.join();

    assertInstanceOf(SecurityException.class, thread.thrown.get());
    for (FakeNodeLease lease : leases) {
      assertEquals(State.RELEASED, lease.state());
    }
  }

  /** A stack that overflows, because the round makes up for a thread that cannot be started. */
  @Test
  void inTheRoundAndInItsReleases() {
    QuorumLeaseSource source =
        new QuorumLeaseSource(nodes.stream().map(QuorumMember::of).toList(), null);
    Consumer<Runnable> failing =
        task -> {
          throw new StackOverflowError("on purpose");
        };
    nodes.get(0).grants =
        () -> {
          nodes.get(0).threads = failing;
          return granted;
        };
    nodes.get(2).threads = failing;

    assertThrows(StackOverflowError.class, () -> source.acquire(waiting(Duration.ZERO), null));

    assertFalse(granted.isRenewed());
  }
}
