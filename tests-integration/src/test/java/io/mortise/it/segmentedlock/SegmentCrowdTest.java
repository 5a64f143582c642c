package io.mortise.it.segmentedlock;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.LockException;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.Names;
import io.mortise.it.support.TwoClients;
import io.mortise.segmentedlock.SegmentLease;
import io.mortise.segmentedlock.SegmentedLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Many sellers of a hot stock in two clients: nobody is beside another in a segment, and all of it
 * is sold.
 */
@Timeout(90)
class SegmentCrowdTest {
  private static final int SEGMENTS = 4;
  private static final int ITEMS_EACH = 50;
  private static final int SELLERS = 12;

  @RegisterExtension static final TwoClients clients = new TwoClients();

  private final String name = Names.fresh();
  private final AtomicIntegerArray inside = new AtomicIntegerArray(SEGMENTS);

  /** Changed under the lock of the segment only. */
  private final int[] stock = IntStream.range(0, SEGMENTS).map(i -> ITEMS_EACH).toArray();

  private final AtomicIntegerArray sold = new AtomicIntegerArray(SEGMENTS);

  @Test
  void exactlyTheStockIsSold() throws Exception {
    SegmentedLock here = new SegmentedLock(clients.here(), name, SEGMENTS);
    SegmentedLock there = new SegmentedLock(clients.there(), name, SEGMENTS);
    List<AsyncCall<Void>> sellers = new ArrayList<>();
    for (int i = 0; i < SELLERS; i++) {
      SegmentedLock lock = i % 2 == 0 ? here : there;
      sellers.add(AsyncCall.run(() -> sell(lock)));
    }
    sellers.add(AsyncCall.run(() -> leaveOften(there)));

    AsyncCall.join(sellers);

    for (int i = 0; i < SEGMENTS; i++) {
      assertEquals(0, stock[i]);
      assertEquals(ITEMS_EACH, sold.get(i));
    }
    assertEquals(SEGMENTS, here.exhaustedSegments().size());
    assertEquals(0, here.queueLength());
    here.resetAll();
    here.acquireAll(Duration.ofSeconds(20)).orElseThrow().close();
    ClientResources.awaitNone(clients.here());
    ClientResources.awaitNone(clients.there());
  }

  private void sell(SegmentedLock lock) throws InterruptedException {
    while (true) {
      Optional<SegmentLease> held = lock.acquireAny(Duration.ofSeconds(60));
      if (held.isEmpty()) {
        assertEquals(SEGMENTS, lock.exhaustedSegments().size(), "empty only when all is sold");
        return;
      }
      try (SegmentLease segment = held.get()) {
        int i = segment.index();
        assertEquals(1, inside.incrementAndGet(i), "alone in the segment");
        if (stock[i] > 0) {
          stock[i]--;
          sold.incrementAndGet(i);
          LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(200_000));
        }
        boolean isLast = stock[i] == 0;
        inside.decrementAndGet(i);
        if (isLast) {
          lock.exhausted(i);
        }
      }
    }
  }

  /** Joins the queue and leaves it again, so that places are given up at every moment. */
  private static void leaveOften(SegmentedLock lock) throws InterruptedException {
    int answered = 0;
    while (answered < 100) {
      try {
        lock.acquireAny(Duration.ofNanos(ThreadLocalRandom.current().nextLong(5_000_000)))
            .ifPresent(SegmentLease::close);
        answered++;
      } catch (LockException slow) { // the wait was over before the server answered
        assertEquals(LockException.Reason.UNREACHABLE, slow.reason(), slow::toString);
      }
    }
  }
}
