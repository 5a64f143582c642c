package io.mortise.connection.pubsub;

import io.mortise.connection.concurrent.Signal;
import org.jspecify.annotations.Nullable;

/**
 * A channel on which somebody waits, or lately did. Made, changed and dropped by {@link
 * Subscriptions} and its {@link NodeSubscriber}s; all but {@code confirmed} is guarded by their
 * lock.
 */
final class WakeupChannel {
  final String name;
  final Signal signal = new Signal();

  /** Whether it stays for a while after its last waiter. */
  final boolean lingers;

  /** Whether the server has said that it is subscribed, so that a message from now on arrives. */
  volatile boolean confirmed;

  int waiters;
  long idleSinceNanos = System.nanoTime();

  /** Whose {@link ReservedChannels} it belongs to; null when it is none, or not any more. */
  @Nullable String spareOf;

  /** Who hears it; null while nobody knows where it is heard. */
  @Nullable NodeSubscriber subscriber;

  /** Whether the present session was asked for it. */
  boolean asked;

  WakeupChannel(String name, boolean lingers) {
    this.name = name;
    this.lingers = lingers;
  }

  /** No message arrives any more: who waits wakes up, and polls until it is confirmed again. */
  void invalidate() {
    asked = false;
    confirmed = false;
    signal.fire();
  }
}
