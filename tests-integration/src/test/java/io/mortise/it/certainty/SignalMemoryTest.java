package io.mortise.it.certainty;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.sun.management.ThreadMXBean;
import io.mortise.connection.concurrent.Signal;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The thread that wakes waiters allocates nothing, so a full heap keeps no waiter from waking up.
 * The first message of a signal is the one that would: a condition of the JDK then makes its queue.
 */
@Timeout(60)
class SignalMemoryTest {
  private static final long AN_HOUR = 3_600_000_000_000L;
  private static final Duration LIVENESS = Duration.ofSeconds(20);

  @Test
  void theFirstMessageOfASignalNeedsNoMemory() throws Exception {
    var unused = allocatedByTheFirstMessage(); // links the calls

    assertEquals(0, allocatedByTheFirstMessage());
  }

  private static long allocatedByTheFirstMessage() throws InterruptedException {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    Signal signal = new Signal();
    long seen = signal.generation();
    Thread waiter =
        new Thread(
            () -> {
              try {
                signal.await(seen, AN_HOUR);
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
            });
    waiter.start();
    await().atMost(LIVENESS).until(() -> waiter.getState() == Thread.State.TIMED_WAITING);
    long before = threads.getCurrentThreadAllocatedBytes();
    signal.fire();
    long after = threads.getCurrentThreadAllocatedBytes();
    waiter.join(LIVENESS.toMillis());
    assertFalse(waiter.isAlive(), "it waits on");
    return after - before;
  }
}
