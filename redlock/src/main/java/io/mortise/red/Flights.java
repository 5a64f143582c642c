package io.mortise.red;

import io.mortise.core.spi.InFlight;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Questions of one poll that were sent by the thread that waits for them, which looks for the
 * answers itself for a moment: nodes that are well answer in less time than it takes to wake a
 * thread for each. After that moment threads have to wait for what is missing.
 *
 * <p>All that are likely to answer within the moment are waited for, also when enough of them have:
 * they work at the same time, and a late answer costs more on another thread than here.
 *
 * <p>Confined to that thread, but for {@link Promptness}.
 */
final class Flights<T> {
  private static final long MOMENT_NANOS = TimeUnit.MICROSECONDS.toNanos(300);

  /** One time in so many it is tried whether those that were late are prompt by now. */
  private static final int SELDOM = 32;

  private final LongSupplier clock;
  private final List<Flight<T>> open = new ArrayList<>();

  /**
   * A question that is under way.
   *
   * @param promptness of the node that was asked
   */
  record Flight<T>(int place, InFlight<T> question, Promptness promptness) {}

  Flights(LongSupplier clock) {
    this.clock = clock;
  }

  void add(int place, InFlight<T> question, Promptness promptness) {
    open.add(new Flight<>(place, question, promptness));
  }

  /**
   * Looks for answers, until all have come that can be expected soon, or the moment is over, or the
   * thread is interrupted.
   */
  @SuppressWarnings("ThreadPriorityCheck") // nothing depends on who runs when it yields
  void gather(Consumer<Flight<T>> arrived, long untilNanos) {
    boolean all = ThreadLocalRandom.current().nextInt(SELDOM) == 0;
    if (!isAnyExpected(all)) {
      return;
    }
    long startNanos = clock.getAsLong();
    long endNanos = startNanos + Math.min(MOMENT_NANOS, untilNanos - startNanos);
    boolean over = false;
    while (!over) {
      if (Thread.currentThread().isInterrupted()) {
        return;
      }
      over =
          clock.getAsLong() - endNanos >= 0; // before the look: who was suspended looks once more
      boolean more = collect(arrived);
      if (!isAnyExpected(all)) {
        return;
      }
      if (!more) {
        Thread.yield();
      }
    }
    open.forEach(late -> late.promptness().note(false));
  }

  private boolean isAnyExpected(boolean all) {
    for (Flight<T> flight : open) {
      if (all || flight.promptness().isLikely()) {
        return true;
      }
    }
    return false;
  }

  private boolean collect(Consumer<Flight<T>> arrived) {
    boolean any = false;
    for (Iterator<Flight<T>> each = open.iterator(); each.hasNext(); ) {
      Flight<T> flight = each.next();
      if (flight.question().hasArrived()) {
        each.remove();
        flight.promptness().note(true);
        arrived.accept(flight);
        any = true;
      }
    }
    return any;
  }

  /** Takes one out that has not arrived; null when there is none. */
  @Nullable Flight<T> takeOpen() {
    return open.isEmpty() ? null : open.remove(open.size() - 1);
  }

  /**
   * Whether a node is likely to answer within the moment. One that is farther away never is, and is
   * not waited for in vain. Safe for any thread.
   */
  static final class Promptness {
    static final int MOST_MISSED = 8;

    private final AtomicInteger missed = new AtomicInteger();

    boolean isLikely() {
      return missed.get() < MOST_MISSED;
    }

    void note(boolean inTime) {
      if (!inTime) {
        missed.incrementAndGet();
      } else if (missed.get() != 0) {
        missed.set(0);
      }
    }
  }
}
