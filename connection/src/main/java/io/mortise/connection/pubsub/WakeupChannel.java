package io.mortise.connection.pubsub;

import io.mortise.connection.concurrent.Signal;
import org.jspecify.annotations.Nullable;

/**
 * A channel that has waiters, or had some recently. The channel and its {@link NodeSubscriber} are
 * two halves of one thing, and refer to each other.
 *
 * <p><b>Threads.</b> {@link Subscriptions} and its {@link NodeSubscriber}s make, change and drop
 * it; their lock guards all mutable fields; any thread may read {@code confirmed} and {@code
 * isUnheard}.
 */
final class WakeupChannel {
  /**
   * The number of messages for nobody that cost about as much as to subscribe again: two commands
   * and one more attempt. A client that unsubscribes after that number pays at most twice the cost
   * of the best choice, whatever comes (ski rental).
   */
  private static final int MAX_UNHEARD = 8;

  /** The time that gathers the own channels of many waiters into one UNSUBSCRIBE. */
  private static final long PRIVATE_LINGER_NANOS = 1_000_000_000L;

  private static final long NOT_IDLE = Long.MAX_VALUE;

  final String name;
  final Signal signal = new Signal();

  /** Whether the channel stays for a while after its last waiter. */
  final boolean keptAlive;

  /** Whether the server has confirmed the channel: messages from now on arrive. */
  volatile boolean confirmed;

  private int waiters;

  /** The count when the last waiter left; {@code NOT_IDLE} while there are waiters. */
  private volatile long idleGeneration;

  /** When the last waiter left, or the channel was made. */
  long idleSinceNanos;

  /**
   * The lock, by the channel of an empty holder, whose {@link ReservedChannels} contain this
   * channel; null when none do.
   */
  @Nullable String reservedFor;

  /** The subscriber of the channel; null while its endpoint is not known. */
  @Nullable NodeSubscriber subscriber;

  /** Whether the present session was requested to subscribe the channel. */
  boolean requested;

  WakeupChannel(String name, boolean keptAlive, long nowNanos) {
    this.name = name;
    this.keptAlive = keptAlive;
    this.idleSinceNanos = nowNanos;
  }

  void addWaiter() {
    waiters++;
    idleGeneration = NOT_IDLE;
  }

  void removeWaiter() {
    waiters--;
    if (waiters == 0) {
      idleGeneration = signal.generation();
    }
  }

  boolean isIdle() {
    return waiters == 0;
  }

  /** Returns whether this is the own channel of one waiter, and that has ended its wait. */
  boolean isSpent() {
    return !keptAlive && reservedFor == null && isIdle();
  }

  /** Returns how long the channel stays after its last waiter. */
  long lingerNanos(long keptAliveNanos) {
    if (keptAlive) {
      return keptAliveNanos;
    }
    return reservedFor != null
        ? ReservedChannels.LINGER_NANOS
        : Math.min(keptAliveNanos, PRIVATE_LINGER_NANOS);
  }

  /** Returns whether the channel can be removed now; not while its connection is replaced. */
  boolean canBeRemoved() {
    NodeSubscriber current = subscriber;
    return current == null || current.canRemove(this);
  }

  /** Returns whether many messages have come for nobody since the last waiter left. */
  boolean isUnheard() {
    return keptAlive && signal.generation() - idleGeneration >= MAX_UNHEARD;
  }

  /** Returns whether the channel can be dropped although it may be wanted again soon. */
  boolean canBeSpared() {
    NodeSubscriber current = subscriber;
    return isUnheard() && current != null && current.hasOthers() && current.canRemove(this);
  }

  /**
   * Marks the channel as not subscribed: no message arrives any more, so its waiters wake up, and
   * poll until it is confirmed again.
   */
  void invalidate() {
    requested = false;
    confirmed = false;
    signal.fire();
  }
}
