package io.mortise.testkit;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** One replica, or one other sentinel, as a sentinel sees it. */
record SentinelView(Map<String, String> fields) {

  /** Asks the sentinel for all of a kind, {@code REPLICAS} or {@code SENTINELS}. */
  static List<SentinelView> of(RedisServer sentinel, String kind, String masterName) {
    return sentinel.command("SENTINEL", kind, masterName) instanceof List<?> all
        ? all.stream().map(each -> of((List<?>) each)).toList()
        : List.of();
  }

  private static SentinelView of(List<?> words) {
    Map<String, String> fields = new HashMap<>();
    for (int i = 0; i + 1 < words.size(); i += 2) {
      fields.put(String.valueOf(words.get(i)), String.valueOf(words.get(i + 1)));
    }
    return new SentinelView(fields);
  }

  boolean isUp(RedisServer server) {
    String flags = field("flags");
    return field("port").equals(Integer.toString(server.port()))
        && !flags.contains("down")
        && !flags.contains("disconnected");
  }

  boolean isReplica(RedisServer server, RedisServer master) {
    return isUp(server)
        && field("role-reported").equals("slave")
        && field("master-link-status").equals("ok")
        && field("master-port").equals(Integer.toString(master.port()));
  }

  private String field(String name) {
    return fields.getOrDefault(name, "");
  }
}
