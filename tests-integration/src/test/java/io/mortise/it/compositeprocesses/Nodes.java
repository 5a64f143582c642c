package io.mortise.it.compositeprocesses;

import io.mortise.core.LockClient;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.RedisServer;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Independent servers, each behind a proxy, and one more that nothing happens to. */
final class Nodes implements AutoCloseable {
  private final List<RedisServer> servers;
  private final List<FaultProxy> proxies;

  /** For what the locks guard. */
  final RedisServer safe = RedisServer.start();

  private Nodes(List<RedisServer> servers) {
    this.servers = servers;
    this.proxies = servers.stream().map(FaultProxy::to).toList();
  }

  static Nodes start(int count) {
    return new Nodes(IntStream.range(0, count).mapToObj(i -> RedisServer.start()).toList());
  }

  int count() {
    return servers.size();
  }

  /** How many may be out of order. */
  int minority() {
    return (count() - 1) / 2;
  }

  List<String> uris() {
    return proxies.stream().map(FaultProxy::uri).toList();
  }

  RedisServer server(int node) {
    return servers.get(node);
  }

  FaultProxy proxy(int node) {
    return proxies.get(node);
  }

  /** How often scripts have been run, on all of them. */
  long scriptCalls() {
    return servers.stream()
        .mapToLong(server -> server.commandStats().getOrDefault("evalsha", 0L))
        .sum();
  }

  /** Whether a hold of that client stands there. */
  boolean isHeldBy(int node, String name, LockClient client) {
    List<?> holders = (List<?>) server(node).command("HKEYS", name);
    return holders.stream().anyMatch(holder -> ((String) holder).startsWith(client.id()));
  }

  /** Who holds it on each of them, and for how long yet, for messages. */
  String holders(String name) {
    return servers.stream()
        .map(server -> server.command("HGETALL", name) + " " + server.command("PTTL", name))
        .collect(Collectors.joining(", "));
  }

  @Override
  public void close() {
    proxies.forEach(FaultProxy::close);
    servers.forEach(RedisServer::close);
    safe.close();
  }
}
