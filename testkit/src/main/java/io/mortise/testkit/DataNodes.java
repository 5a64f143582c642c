package io.mortise.testkit;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import redis.clients.jedis.HostAndPort;

/**
 * The data nodes of one cluster, or of one set-up with sentinels, and the replication between them.
 *
 * <p><b>Threads.</b> One thread starts the nodes; any thread may call the rest afterwards.
 */
final class DataNodes implements AutoCloseable {
  /** No node has it, so that a replica that uses it gets nothing from its master. */
  private static final String WRONG_PASSWORD = "replication-is-cut";

  private final NodeOptions options;
  private final List<RedisServer> nodes = new ArrayList<>();

  DataNodes(NodeOptions options) {
    this.options = options;
  }

  /** Starts one more node; {@code more} adds to the common options. */
  RedisServer start(UnaryOperator<RedisServer.Builder> more) {
    RedisServer node = more.apply(options.newNode()).start();
    nodes.add(node);
    return node;
  }

  List<RedisServer> all() {
    return Collections.unmodifiableList(nodes);
  }

  /** Those that run and are not suspended. */
  List<RedisServer> reachable() {
    return reachable(nodes);
  }

  static List<RedisServer> reachable(List<RedisServer> servers) {
    return servers.stream().filter(RedisServer::canAnswer).toList();
  }

  RedisServer byPort(int port) {
    return nodes.stream()
        .filter(node -> node.port() == port || node.clientPort() == port)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no node of ours has port " + port));
  }

  void requireOurs(String what, RedisServer node) {
    if (!nodes.contains(Objects.requireNonNull(node, what))) {
      throw new IllegalArgumentException(node + " is none of these nodes: " + nodes);
    }
  }

  List<String> uris() {
    return nodes.stream().map(options::uri).toList();
  }

  Set<HostAndPort> hostPorts() {
    return hostPorts(nodes);
  }

  static Set<HostAndPort> hostPorts(List<RedisServer> servers) {
    return servers.stream()
        .map(server -> new HostAndPort(server.host(), server.clientPort()))
        .collect(
            Collectors.collectingAndThen(
                Collectors.toCollection(LinkedHashSet::new), Collections::unmodifiableSet));
  }

  /** Returns when these replicas have all that the master has written until now. */
  static void awaitInSync(RedisServer master, List<RedisServer> replicas) {
    long offset = Long.parseLong(master.field("replication", "master_repl_offset"));
    for (RedisServer replica : replicas) {
      Await.until(
          "%s in sync with %s".formatted(replica, master),
          () ->
              isLinked(replica, master)
                  && Long.parseLong(replica.field("replication", "slave_repl_offset")) >= offset,
          replica::log);
    }
  }

  /** Whether it replicates from that master. */
  static boolean isLinked(RedisServer replica, RedisServer master) {
    return replica.canAnswer()
        && replica.field("replication", "master_port").equals(Integer.toString(master.port()))
        && replica.field("replication", "master_link_status").equals("up");
  }

  /**
   * Makes these replicas miss all that the master writes from now on. Suspending them would not: a
   * replica reads later what the master has sent into its socket, even if the master is dead. So
   * the link is closed, and a wrong password prevents a new one. The roles do not change, so
   * neither a sentinel nor a cluster repairs it.
   */
  void cut(RedisServer master, List<RedisServer> replicas) {
    awaitInSync(master, replicas);
    for (RedisServer replica : replicas) {
      replica.command("CONFIG", "SET", "masterauth", WRONG_PASSWORD);
      replica.command("CLIENT", "KILL", "TYPE", "master");
      Await.until(
          "no link from %s to its master".formatted(replica),
          () -> replica.field("replication", "master_link_status").equals("down"),
          replica::log);
    }
  }

  /** Undoes {@link #cut} for all that answer. */
  void restoreLinks() {
    reachable().forEach(this::restoreLinks);
  }

  void restoreLinks(RedisServer node) {
    String password = Objects.requireNonNullElse(options.password(), "");
    node.command("CONFIG", "SET", "masterauth", password);
  }

  @Override
  public void close() {
    OpenedClients.closeAll(new ArrayDeque<>(nodes)::poll);
  }
}
