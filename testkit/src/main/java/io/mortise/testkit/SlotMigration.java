package io.mortise.testkit;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Live resharding of one slot, by the steps that {@code redis-cli} takes.
 *
 * <p><b>Threads.</b> Confined to the thread that moves the slot.
 */
final class SlotMigration {
  private static final String BATCH = "100";
  private static final String TIMEOUT_MILLIS = "5000";

  private final String slot;
  private final RedisServer from;
  private final RedisServer to;
  private final @Nullable String password;

  SlotMigration(int slot, RedisServer from, RedisServer to, @Nullable String password) {
    this.slot = Integer.toString(slot);
    this.from = from;
    this.to = to;
    this.password = password;
  }

  /** From here on the old owner answers ASK for keys that it does not have. */
  void begin() {
    to.command("CLUSTER", "SETSLOT", slot, "IMPORTING", ClusterFormation.id(from));
    from.command("CLUSTER", "SETSLOT", slot, "MIGRATING", ClusterFormation.id(to));
  }

  void moveKeys() {
    List<String> keys = keys();
    while (!keys.isEmpty()) {
      List<String> command =
          new ArrayList<>(
              List.of("MIGRATE", to.host(), Integer.toString(to.port()), "", "0", TIMEOUT_MILLIS));
      if (password != null) {
        command.addAll(List.of("AUTH", password));
      }
      command.add("KEYS");
      command.addAll(keys);
      from.command(command.toArray(new String[0]));
      keys = keys();
    }
  }

  /**
   * From here on the old owner answers MOVED.
   *
   * @param others masters that need not wait for the gossip
   */
  void assign(List<RedisServer> others) {
    String id = ClusterFormation.id(to);
    // The new owner first: if the rest fails, the slot has an owner.
    List<RedisServer> notified = new ArrayList<>(List.of(to, from));
    others.stream().filter(node -> !notified.contains(node)).forEach(notified::add);
    notified.forEach(node -> node.command("CLUSTER", "SETSLOT", slot, "NODE", id));
  }

  private List<String> keys() {
    return from.command("CLUSTER", "GETKEYSINSLOT", slot, BATCH) instanceof List<?> keys
        ? keys.stream().map(String::valueOf).toList()
        : List.of();
  }
}
