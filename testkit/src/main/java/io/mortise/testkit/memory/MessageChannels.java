package io.mortise.testkit.memory;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The channels of a server, and the connections that are subscribed to them.
 *
 * <p><b>Threads.</b> Guarded by the monitor of the {@link MemoryServer}.
 */
final class MessageChannels {
  private final Map<String, Set<MemoryConnection>> subscribers = new LinkedHashMap<>();

  /** Subscribes; returns the confirmation. */
  List<Object> join(MemoryConnection connection, String channel) {
    subscribers.computeIfAbsent(channel, name -> new LinkedHashSet<>()).add(connection);
    return List.of("subscribe", channel, count(connection));
  }

  /** Ends the subscriptions, all if none is named; returns the confirmations. */
  List<List<@Nullable Object>> leave(MemoryConnection connection, List<String> named) {
    List<String> channels = named.isEmpty() ? channelsOf(connection) : named;
    List<List<@Nullable Object>> confirmations = new ArrayList<>();
    for (String channel : channels) {
      Set<MemoryConnection> those = subscribers.get(channel);
      if (those != null && those.remove(connection) && those.isEmpty()) {
        subscribers.remove(channel);
      }
      confirmations.add(List.of("unsubscribe", channel, count(connection)));
    }
    if (confirmations.isEmpty()) {
      List<@Nullable Object> none = new ArrayList<>();
      none.add("unsubscribe");
      none.add(null);
      none.add(0L);
      confirmations.add(none);
    }
    return confirmations;
  }

  /** Ends the subscriptions of a connection that is closed. */
  void leave(MemoryConnection connection) {
    subscribers.values().forEach(those -> those.remove(connection));
    subscribers.values().removeIf(Set::isEmpty);
  }

  boolean isSubscriber(MemoryConnection connection) {
    return count(connection) > 0;
  }

  /** Delivers a message; returns how many connections received it. */
  Long publish(String channel, String message) {
    Set<MemoryConnection> those = subscribers.getOrDefault(channel, Set.of());
    those.forEach(subscriber -> subscriber.reply(List.of("message", channel, message)));
    return (long) those.size();
  }

  private List<String> channelsOf(MemoryConnection connection) {
    return subscribers.entrySet().stream()
        .filter(entry -> entry.getValue().contains(connection))
        .map(Map.Entry::getKey)
        .toList();
  }

  private Long count(MemoryConnection connection) {
    return subscribers.values().stream().filter(those -> those.contains(connection)).count();
  }
}
