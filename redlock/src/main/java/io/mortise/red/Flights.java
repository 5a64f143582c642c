package io.mortise.red;

import io.mortise.core.spi.InFlight;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Questions of one poll that were sent by the thread that waits for them, which looks for the
 * answers itself for a moment: nodes that are well answer in less time than it takes to wake a
 * thread for each. After that moment threads have to wait for what is missing.
 *
 * <p>Confined to that thread, but for {@link Promptness}.
 */
final class Flights<T> {
  private final Promptness promptness;
  private final List<Flight<T>> open = new ArrayList<>();

  /** A question that is under way to a member. */
  record Flight<T>(int place, InFlight<T> question) {}

  Flights(Promptness promptness) {
    this.promptness = promptness;
  }

  void add(int place, InFlight<T> question) {
    open.add(new Flight<>(place, question));
  }

  /**
   * Looks for answers, until there are enough and the others have had as long again, or the moment
   * is over, or the thread is interrupted.
   */
  @SuppressWarnings("ThreadPriorityCheck") // nothing depends on who runs when it yields
  void gather(Consumer<Flight<T>> arrived, BooleanSupplier enough, long untilNanos) {
    if (open.isEmpty()) {
      return;
    }
    long startNanos = System.nanoTime();
    long endNanos = startNanos + Math.min(promptness.nanos(), untilNanos - startNanos);
    boolean decided = enough.getAsBoolean();
    while (!Thread.currentThread().isInterrupted()) {
      boolean more = collect(arrived);
      long now = System.nanoTime();
      if (open.isEmpty() || now - endNanos >= 0) {
        break;
      }
      if (!more) {
        Thread.yield();
      } else if (!decided && enough.getAsBoolean()) {
        decided = true;
        endNanos = Math.min(endNanos, now + (now - startNanos));
      }
    }
    promptness.note(open.isEmpty() || decided);
  }

  private boolean collect(Consumer<Flight<T>> arrived) {
    boolean any = false;
    for (Iterator<Flight<T>> each = open.iterator(); each.hasNext(); ) {
      Flight<T> flight = each.next();
      if (flight.question().hasArrived()) {
        each.remove();
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
   * For how long it pays to look for answers without sleeping. Where the nodes are farther away it
   * is never long enough, and is tried now and then only. Safe for any thread.
   */
  static final class Promptness {
    private static final long MOMENT_NANOS = TimeUnit.MICROSECONDS.toNanos(300);
    private static final int MOST_MISSED = 8;
    private static final int SELDOM = 32;

    private final AtomicInteger missed = new AtomicInteger();

    long nanos() {
      boolean pays = missed.get() < MOST_MISSED || ThreadLocalRandom.current().nextInt(SELDOM) == 0;
      return pays ? MOMENT_NANOS : 0;
    }

    void note(boolean answered) {
      if (!answered) {
        missed.incrementAndGet();
      } else if (missed.get() != 0) {
        missed.set(0);
      }
    }
  }
}
