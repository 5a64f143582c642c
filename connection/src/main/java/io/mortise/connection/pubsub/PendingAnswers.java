package io.mortise.connection.pubsub;

import com.google.common.collect.ConcurrentHashMultiset;
import com.google.common.collect.Multiset;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The answers that a {@link SubscriberSession} waits for, one for each channel of each command. A
 * channel that is subscribed, unsubscribed and subscribed again in short order has several.
 *
 * <p><b>Threads.</b> Writers add under the lock of {@link Subscriptions}; the subscriber thread
 * removes; any thread may call {@code contains}.
 */
final class PendingAnswers {
  private final Multiset<String> channels = ConcurrentHashMultiset.create();
  private final AtomicInteger bytes;

  /**
   * @param bytes counts the bytes of the names
   */
  PendingAnswers(AtomicInteger bytes) {
    this.bytes = bytes;
  }

  void add(List<String> requested) {
    for (String channel : requested) {
      channels.add(channel);
      bytes.addAndGet(SubscriberSession.bytes(channel));
    }
  }

  /** Removes an outstanding answer; returns whether it was outstanding. */
  boolean remove(String channel) {
    boolean pending = channels.remove(channel);
    if (pending) {
      bytes.addAndGet(-SubscriberSession.bytes(channel));
    }
    return pending;
  }

  boolean contains(String channel) {
    return channels.contains(channel);
  }
}
