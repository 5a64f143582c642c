package io.mortise.testkit;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import redis.clients.jedis.HostAndPort;

/** The data nodes that belong together, and the replication between them. */
final class DataNodes implements AutoCloseable {
  /** No node has it, so that a replica that uses it gets nothing from its master. */
  private static final String WRONG_PASSWORD = "replication-is-cut";

  private final NodeOptions options;
  private final List<RedisServer> nodes = new ArrayList<>();

  DataNodes(NodeOptions options) {
    this.options = options;
  }

  /** Starts one more node; {@code more} is what it has besides the common options. */
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

  void requireOurs(RedisServer node) {
    if (!nodes.contains(Objects.requireNonNull(node, "node"))) {
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

  /** Returns when these replicas have all that the master has said until now. */
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

  /** Whether it gets what that master says, from that master. */
  static boolean isLinked(RedisServer replica, RedisServer master) {
    return replica.canAnswer()
        && replica.field("replication", "master_port").equals(Integer.toString(master.port()))
        && replica.field("replication", "master_link_status").equals("up");
  }

  /**
   * Has these replicas miss all that the master says from now on. To suspend them would not: what a
   * master has sent waits in the socket, and is read by the replica afterwards, even when the
   * master is dead. So the link is closed, and a wrong password keeps it from being made anew. The
   * roles stay as they are, so neither a sentinel nor a cluster sets it right.
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

  /** Takes {@link #cut} back, for all that answer. */
  void restoreLinks() {
    reachable().forEach(this::restoreLinks);
  }

  void restoreLinks(RedisServer node) {
    String password = Objects.requireNonNullElse(options.password(), "");
    node.command("CONFIG", "SET", "masterauth", password);
  }

  @Override
  public void close() {
    closeAll(nodes);
  }

  static void closeAll(List<RedisServer> servers) {
    RuntimeException failure = null;
    for (RedisServer server : servers) {
      try {
        server.close();
      } catch (RuntimeException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
