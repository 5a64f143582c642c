package io.mortise.core;

/**
 * A listener that is notified of all events of the locks of a {@link LockClient}; {@link
 * LockEvent.Type} lists them. Metrics, traces and logs are built on it.
 *
 * <pre>{@code
 * LockOptions options = LockOptions.builder().listener(event -> log.info("{}", event)).build();
 * }</pre>
 *
 * <p><b>It cannot slow down or break a lock.</b> One thread of the client calls all listeners, for
 * one event after the other; no other thread waits for it. A listener may block, but later events
 * wait in a queue of 8,192 places meanwhile. When the queue is full, or there is no memory for an
 * event, the event is dropped, and counted in {@link LockClient.Status#droppedEvents()}. After a
 * pause of events the first is delivered at once, and the next ones up to about a millisecond
 * later. A client without a listener has no such thread, makes no events, and reads no clock for
 * them.
 *
 * <p><b>Order.</b> Events arrive in the order in which they were reported. Those of one acquisition
 * are in the order of {@link LockEvent.Type}, unless one was dropped; {@link
 * LockEvent.Type#RENEWED_LATE} may come just after the end of a hold, when both happen together.
 *
 * <p><b>Failures.</b> A listener that throws is logged, at most once a minute, and is called again
 * for the next event; the other listeners are called in any case.
 *
 * <p><b>The end.</b> {@link LockClient#close()} delivers the events that were reported before, for
 * at most the rest of one {@link LockOptions#commandTimeout()}, then interrupts a listener that
 * still runs, and drops the remaining events. A listener may close its own client; then the thread
 * ends when it has delivered the rest.
 *
 * <p><b>Threads.</b> A listener of one client is called by one thread at a time. It may lock, which
 * makes further events.
 */
@FunctionalInterface
public interface LockListener {

  /** Receives an event; also of types that later versions add. */
  void onEvent(LockEvent event);
}
