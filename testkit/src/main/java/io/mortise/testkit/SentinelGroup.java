package io.mortise.testkit;

import static io.mortise.testkit.DataNodes.reachable;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The sentinels of one master, and its state by those that answer.
 *
 * <p><b>Threads.</b> One thread adds the sentinels; any thread may call the rest afterwards.
 */
final class SentinelGroup implements AutoCloseable {
  private final String masterName;
  private final DataNodes nodes;
  private final List<RedisServer> sentinels = new ArrayList<>();

  SentinelGroup(String masterName, DataNodes nodes) {
    this.masterName = masterName;
    this.nodes = nodes;
  }

  void add(RedisServer sentinel) {
    sentinels.add(sentinel);
  }

  List<RedisServer> all() {
    return Collections.unmodifiableList(sentinels);
  }

  /** The first one that answers. */
  RedisServer any() {
    return reachable(sentinels).stream()
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no sentinel answers of " + sentinels));
  }

  RedisServer masterOf(RedisServer sentinel) {
    Object address =
        Objects.requireNonNull(sentinel.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", masterName));
    return nodes.byPort(Integer.parseInt((String) ((List<?>) address).get(1)));
  }

  /** Whether at least one sentinel names another master already. */
  boolean isBeingReplaced(RedisServer former) {
    return reachable(sentinels).stream().anyMatch(sentinel -> masterOf(sentinel) != former);
  }

  /** Whether all sentinels name the same other master, and its role is that of a master. */
  boolean isReplaced(RedisServer former) {
    return agreedMaster().filter(master -> master != former).isPresent();
  }

  /** Whether all sentinels name the same master, and see its replicas in order and each other. */
  boolean isOk() {
    return agreedMaster()
        .filter(master -> reachable(sentinels).stream().allMatch(each -> seesAll(each, master)))
        .isPresent();
  }

  private Optional<RedisServer> agreedMaster() {
    List<RedisServer> named = reachable(sentinels).stream().map(this::masterOf).distinct().toList();
    return Optional.of(named)
        .filter(masters -> masters.size() == 1)
        .map(masters -> masters.get(0))
        .filter(RedisServer::canAnswer)
        .filter(master -> master.field("replication", "role").equals("master"));
  }

  private boolean seesAll(RedisServer sentinel, RedisServer master) {
    List<SentinelView> replicas = SentinelView.of(sentinel, "REPLICAS", masterName);
    List<SentinelView> others = SentinelView.of(sentinel, "SENTINELS", masterName);
    return nodes.reachable().stream()
            .filter(node -> node != master)
            .allMatch(node -> replicas.stream().anyMatch(seen -> seen.isReplica(node, master)))
        && reachable(sentinels).stream()
            .filter(other -> other != sentinel)
            .allMatch(other -> others.stream().anyMatch(seen -> seen.isUp(other)));
  }

  /** The views and logs of all sentinels, for the message of a wait that has timed out. */
  @Override
  public String toString() {
    return reachable(sentinels).stream()
        .map(sentinel -> "%s: %s%n%s".formatted(sentinel, masterOf(sentinel), sentinel.log()))
        .collect(Collectors.joining("\n"));
  }

  @Override
  public void close() {
    OpenedClients.closeAll(new ArrayDeque<>(sentinels)::poll);
  }
}
