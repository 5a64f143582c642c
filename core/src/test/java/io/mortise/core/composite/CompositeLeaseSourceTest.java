package io.mortise.core.composite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.spi.FakeSource;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** A composite source runs its tasks on any client that is open. */
class CompositeLeaseSourceTest {
  private final FakeSource one = new FakeSource("one");
  private final FakeSource two = new FakeSource("two");
  private final Pair pair = new Pair(one, two);
  private final List<String> done = new ArrayList<>();

  private static final class Pair extends CompositeLeaseSource {
    Pair(LeaseSource one, LeaseSource two) {
      super(List.of(one, two), "pair");
    }

    @Override
    public Object identity() {
      return this;
    }

    @Override
    public String kind() {
      return "pair";
    }

    @Override
    public Optional<OwnedLease> acquire(LeaseTerms terms, Thread owner) {
      return Optional.empty();
    }

    @Override
    public Optional<Duration> remainingLease() {
      return Optional.empty();
    }

    @Override
    public boolean forceUnlock() {
      return false;
    }
  }

  @Test
  void aScheduledTaskRunsAlthoughTheFirstClientIsClosedBefore() {
    var unused = pair.schedule(() -> done.add("ran"), 1_000);
    one.scheduled.clear(); // closed: what it had to do is never done

    two.scheduled.remove().run();

    assertEquals(List.of("ran"), done);
  }

  @Test
  void aScheduledTaskRunsOnce() {
    var unused = pair.schedule(() -> done.add("ran"), 1_000);

    one.scheduled.remove().run();
    two.scheduled.remove().run();

    assertEquals(List.of("ran"), done);
  }

  @Test
  void aCancelledTaskNeverRuns() {
    pair.schedule(() -> done.add("ran"), 1_000).run();

    assertEquals(0, one.scheduled.size() + two.scheduled.size());
  }

  @Test
  void aSubmittedTaskIsRunByTheFirstClientThatIsOpen() {
    one.closed = true;
    var unused = pair.submit(() -> done.add("ran"));

    two.work();

    assertEquals(List.of("ran"), done);
  }

  /** A thread that asks the workers of a closed client does their work itself. */
  @Test
  void whatAllHoldsShareIsDoneByTheFirstClientThatIsOpen() {
    one.closed = true;
    pair.notifyUser(() -> done.add("loss"));
    pair.log(() -> done.add("log"));
    pair.notifyDependent(() -> done.add("notification"));
    assertFalse(pair.isClosed());

    two.work();

    assertEquals(List.of("loss", "log", "notification"), done);
    assertEquals(List.of("own", "log", "dependents"), two.workers);
    two.closed = true;
    assertTrue(pair.isClosed());
  }

  @Test
  void withAllClientsClosedATaskIsRejected() {
    one.closed = true;
    two.closed = true;
    assertThrows(RejectedExecutionException.class, () -> pair.submit(() -> done.add("never")));
    assertThrows(
        RejectedExecutionException.class, () -> pair.schedule(() -> done.add("never"), 1_000));
  }
}
