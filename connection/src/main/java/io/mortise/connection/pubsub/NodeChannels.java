package io.mortise.connection.pubsub;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The channels of one {@link NodeSubscriber}, and the requests that its session has still to send.
 *
 * <p><b>Threads.</b> The lock of {@link Subscriptions} guards everything; any thread may call
 * {@code get}, {@code size} and {@code isEmpty} without it.
 */
final class NodeChannels {
  private final Map<String, WakeupChannel> channels = new ConcurrentHashMap<>();

  /** The channels that the session has still to subscribe. */
  private final Set<WakeupChannel> unrequested = new LinkedHashSet<>();

  /** The names that the session has still to unsubscribe. */
  private final Set<String> unsubscribing = new LinkedHashSet<>();

  private final Function<String, Integer> groupOf;

  /**
   * @param groupOf the group of a channel; one command can subscribe the channels of one group
   */
  NodeChannels(Function<String, Integer> groupOf) {
    this.groupOf = groupOf;
  }

  boolean isEmpty() {
    return channels.isEmpty();
  }

  int size() {
    return channels.size();
  }

  @Nullable WakeupChannel get(String name) {
    return channels.get(name);
  }

  void add(WakeupChannel channel) {
    WakeupChannel stray = channels.put(channel.name, channel);
    if (stray != null) {
      unrequested.remove(stray); // or its name would be requested again and again
    }
    unrequested.add(channel);
    unsubscribing.remove(channel.name);
  }

  void remove(WakeupChannel channel) {
    if (channel.requested) {
      unsubscribing.add(channel.name); // first: without memory the channel is a stray
    }
    channels.remove(channel.name);
    unrequested.remove(channel);
    channel.requested = false;
    channel.confirmed = false;
  }

  List<WakeupChannel> those(Predicate<WakeupChannel> wanted) {
    return channels.values().stream().filter(wanted).toList();
  }

  /** Returns the name of any channel, a confirmed one if possible; empty without channels. */
  Optional<String> anyName() {
    return channels.values().stream()
        .max(Comparator.comparing(channel -> channel.confirmed))
        .map(channel -> channel.name);
  }

  /** Returns the first channels to subscribe; the last of them may exceed the room. */
  List<String> unrequested(int roomBytes) {
    return fitting(unrequested.stream().map(channel -> channel.name), roomBytes);
  }

  void markRequested(String name) {
    WakeupChannel channel = channels.get(name);
    if (channel != null) {
      channel.requested = true;
      unrequested.remove(channel);
    }
  }

  /**
   * Returns the first channels to unsubscribe. There are none while there are channels to
   * subscribe: the session ends when its last channel is unsubscribed.
   */
  List<String> unsubscribing(int roomBytes) {
    return unrequested.isEmpty() ? fitting(unsubscribing.stream(), roomBytes) : List.of();
  }

  void markUnsubscribed(String name) {
    unsubscribing.remove(name);
  }

  private static List<String> fitting(Stream<String> names, int roomBytes) {
    List<String> fitting = new ArrayList<>();
    int leftBytes = roomBytes;
    for (Iterator<String> each = names.iterator(); leftBytes > 0 && each.hasNext(); ) {
      String name = each.next();
      fitting.add(name);
      leftBytes -= PendingAnswers.bytes(name);
    }
    return fitting;
  }

  /** Returns the names of each group, for one command each. */
  List<List<String>> inGroups(Collection<String> names) {
    return List.copyOf(names.stream().collect(Collectors.groupingBy(groupOf)).values());
  }

  /** Marks a channel that the server has dropped; returns false when the client has dropped it. */
  boolean invalidate(String name) {
    WakeupChannel channel = channels.get(name);
    if (channel == null || !channel.requested) {
      return false;
    }
    channel.invalidate();
    unrequested.add(channel);
    return true;
  }

  /** Marks all channels as not subscribed, because their session is over. */
  void invalidateAll() {
    unsubscribing.clear();
    unrequested.addAll(channels.values());
    for (WakeupChannel channel : channels.values()) {
      if (channel.requested) {
        channel.invalidate();
      }
    }
  }
}
