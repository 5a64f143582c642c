package io.mortise.core.internal.event;

import com.google.common.base.Ticker;
import com.google.common.util.concurrent.Uninterruptibles;
import io.mortise.core.LockEvent;
import io.mortise.core.LockListener;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The events of one client that are not delivered yet, and the thread that delivers them.
 *
 * <p><b>Cost for a producer.</b> A permit of a semaphore bounds a {@link ConcurrentLinkedQueue}:
 * both are compare-and-set, and no producer waits for another or for a listener. To unpark a thread
 * costs more than all of that. So the thread that has delivered the last event first sleeps for
 * {@link #LINGER_NANOS}, in which nobody wakes it, and asks to be woken only if it finds nothing
 * then. A busy client wakes it at most a thousand times a second.
 *
 * <p>The thread and a producer are Dekker-style "publish, then look": the producer adds the event,
 * then reads {@code idle}; the thread sets {@code idle}, then looks for an event. One of the two
 * sees the other.
 *
 * <p><b>Threads.</b> Any thread may call {@link #put}, {@link #recordDrop} and {@link #dropped}.
 * One thread calls the listeners. No lock is held while a listener runs.
 */
public final class EventQueue {
  private static final Logger LOG = LoggerFactory.getLogger(EventQueue.class);
  static final int CAPACITY = 8_192;

  /** How long the thread collects events before it looks again. */
  private static final long LINGER_NANOS = 1_000_000L;

  /** The least time between two messages about listeners that fail. */
  static final long LOG_PAUSE_NANOS = 60_000_000_000L;

  private final List<LockListener> listeners;
  private final Ticker ticker;
  private final Thread thread;
  private final Semaphore places = new Semaphore(CAPACITY);
  private final Queue<LockEvent> events = new ConcurrentLinkedQueue<>();
  private final AtomicLong dropped = new AtomicLong();

  /** Events that were lost to an error; two at the same moment may count as one. */
  private volatile long failed;

  /** Whether the thread waits to be woken. */
  private volatile boolean idle;

  /** Whether no event is taken any more. */
  private volatile boolean closing;

  /** Whether no event is delivered any more. */
  private volatile boolean ended;

  /** When a failure was last logged, and how many there were since; used by the thread alone. */
  private long lastLogNanos;

  private long unloggedFailures;

  public EventQueue(List<LockListener> listeners, Ticker ticker, ThreadFactory threads) {
    this.listeners = listeners;
    this.ticker = ticker;
    this.lastLogNanos = ticker.read() - LOG_PAUSE_NANOS;
    this.thread = threads.newThread(this::deliverAll);
  }

  /** Starts the thread; called once, before the first event. */
  public void start() {
    thread.start();
  }

  // ---- producers

  /** Takes an event; drops it when the queue is full or closed. */
  void put(LockEvent event) {
    if (closing || !places.tryAcquire()) {
      dropped.incrementAndGet();
      return;
    }
    try {
      events.add(event);
    } catch (Throwable e) { // an error, which the caller counts
      places.release();
      throw e;
    }
    if (idle) {
      LockSupport.unpark(thread);
    }
  }

  /** Counts an event that an error has prevented. Needs neither memory nor a deeper stack. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // an atomic update is a call
  void recordDrop() {
    failed++;
  }

  /** Returns how many events were dropped. */
  public long dropped() {
    return dropped.get() + failed + (ended ? events.size() : 0);
  }

  // ---- the thread

  private void deliverAll() {
    while (!ended) {
      try {
        boolean last = closing; // before the look: what was taken before the end is delivered
        LockEvent event = events.poll();
        if (event != null) {
          places.release();
          deliver(event);
        } else if (last) {
          ended = true;
        } else {
          awaitEvents();
        }
      } catch (Throwable e) { // an error too must not end the thread
        recordDrop();
      }
    }
  }

  private void awaitEvents() {
    clearInterrupt();
    LockSupport.parkNanos(this, LINGER_NANOS);
    if (events.isEmpty()) {
      idle = true;
      if (events.isEmpty() && !closing) {
        LockSupport.park(this);
      }
      idle = false;
    }
  }

  private void deliver(LockEvent event) {
    for (LockListener listener : listeners) {
      try {
        listener.onEvent(event);
      } catch (Throwable e) { // an AssertionError too
        logFailure(listener, e);
      }
      clearInterrupt();
      if (ended) {
        return; // the interrupt of the close was for the listener before: the next one would block
      }
    }
  }

  /** Clears an interrupt that a listener has left behind: with it no wait would wait. */
  private static void clearInterrupt() {
    var unused = Thread.interrupted();
  }

  private void logFailure(LockListener listener, Throwable thrown) {
    unloggedFailures++;
    long now = ticker.read();
    if (now - lastLogNanos < LOG_PAUSE_NANOS) {
      return;
    }
    lastLogNanos = now;
    long failures = unloggedFailures;
    unloggedFailures = 0;
    try {
      LOG.warn(
          "the listener {} failed; it is called again for the next event ({} failures of listeners"
              + " since the last message)",
          listener,
          failures,
          thrown);
    } catch (Throwable noLog) {
      unloggedFailures = failures; // there is no memory even for a message
    }
  }

  // ---- the end

  /**
   * Delivers what was taken, within that time, and ends the thread. On the thread itself it returns
   * at once; the thread then delivers the rest and ends. An interrupt does not end the wait, and is
   * kept.
   */
  public void close(long withinNanos) {
    closing = true;
    LockSupport.unpark(thread);
    if (Thread.currentThread() == thread) {
      return;
    }
    Uninterruptibles.joinUninterruptibly(thread, withinNanos, TimeUnit.NANOSECONDS);
    ended = true;
    thread.interrupt();
  }
}
