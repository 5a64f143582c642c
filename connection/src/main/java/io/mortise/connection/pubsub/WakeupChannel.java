package io.mortise.connection.pubsub;

import io.mortise.connection.concurrent.Signal;
import org.jspecify.annotations.Nullable;

/**
 * A channel that has waiters, or had some recently. The channel and its {@link NodeSubscriber} are
 * two halves of one thing, and refer to each other.
 *
 * <p><b>Threads.</b> {@link Subscriptions} and its {@link NodeSubscriber}s make, change and drop
 * it; their lock guards all mutable fields; any thread may read {@code confirmed}.
 */
final class WakeupChannel {
  final String name;
  final Signal signal = new Signal();

  /** Whether the channel stays for a while after its last waiter. */
  final boolean keptAlive;

  /** Whether the server has confirmed the channel: messages from now on arrive. */
  volatile boolean confirmed;

  int waiters;

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
