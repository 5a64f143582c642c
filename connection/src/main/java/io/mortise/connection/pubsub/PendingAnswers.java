package io.mortise.connection.pubsub;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.collect.ConcurrentHashMultiset;
import com.google.common.collect.Multiset;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The answers that a {@link SubscriberSession} waits for, one for each channel of each command. A
 * channel that is subscribed, unsubscribed and subscribed again in short order has several.
 *
 * <p><b>Threads.</b> The subscriber thread adds the first request of its session; writers add under
 * the lock of {@link Subscriptions}; the subscriber thread removes; any thread may call {@code
 * contains}.
 */
final class PendingAnswers {
  /** The maximum framing of a name on the wire. */
  private static final int FRAME_BYTES = 16;

  private final Multiset<String> channels = ConcurrentHashMultiset.create();
  private final AtomicInteger pendingBytes;

  /**
   * @param pendingBytes counts the bytes of the names
   */
  PendingAnswers(AtomicInteger pendingBytes) {
    this.pendingBytes = pendingBytes;
  }

  /** Returns how many bytes a name takes in a command, at most. */
  static int bytes(String channel) {
    return channel.getBytes(UTF_8).length + FRAME_BYTES;
  }

  void add(List<String> requested) {
    for (String channel : requested) {
      channels.add(channel);
      pendingBytes.addAndGet(bytes(channel));
    }
  }

  boolean remove(String channel) {
    boolean pending = channels.remove(channel);
    if (pending) {
      pendingBytes.addAndGet(-bytes(channel));
    }
    return pending;
  }

  boolean contains(String channel) {
    return channels.contains(channel);
  }
}
