package io.mortise.it.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.LockOptions;
import io.mortise.it.support.Eventually;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;

/** Independent servers, each with a proxy in front of it, and what can be done to them. */
final class FaultyNodes implements AutoCloseable {
  private final List<RedisServer> servers = new ArrayList<>();
  private final List<FaultProxy> proxies = new ArrayList<>();

  private FaultyNodes() {}

  static FaultyNodes start(int count) {
    FaultyNodes nodes = new FaultyNodes();
    try {
      for (int i = 0; i < count; i++) {
        nodes.servers.add(RedisServer.start());
        nodes.proxies.add(FaultProxy.to(nodes.servers.get(i)));
      }
      return nodes;
    } catch (RuntimeException e) {
      nodes.close();
      throw e;
    }
  }

  int count() {
    return servers.size();
  }

  RedisServer server(int place) {
    return servers.get(place);
  }

  FaultProxy proxy(int place) {
    return proxies.get(place);
  }

  List<String> uris() {
    return servers.stream().map(RedisServer::uri).toList();
  }

  /** A process whose clients come through the proxies. */
  QuorumClients party(LockOptions options, Duration budget) {
    return QuorumClients.of(proxies.stream().map(FaultProxy::uri).toList(), options, budget);
  }

  /** A process whose clients come to the servers themselves. */
  QuorumClients direct(LockOptions options, Duration budget) {
    return QuorumClients.of(uris(), options, budget);
  }

  // ---- faults

  void begin(NodeFault fault, Collection<Integer> places) {
    places.forEach(place -> fault.begin(server(place), proxy(place)));
  }

  void end(NodeFault fault, Collection<Integer> places) {
    places.forEach(place -> fault.end(server(place), proxy(place)));
  }

  /** All is well again, whatever a test has left behind. */
  void restore() {
    proxies.forEach(FaultProxy::restore);
    for (RedisServer server : servers) {
      if (server.isRunning()) {
        server.resume();
      } else {
        server.restart();
      }
    }
  }

  // ---- what stands in Redis

  /** On which nodes the lock stands. */
  Set<Integer> holding(String lock) {
    return Set.copyOf(
        IntStream.range(0, count())
            .filter(i -> Objects.equals(1L, server(i).command("EXISTS", lock)))
            .boxed()
            .toList());
  }

  /** Who has it there, as a list. */
  String holders(String lock, int place) {
    return String.valueOf(server(place).command("HKEYS", lock));
  }

  /** The lock comes to stand on exactly that many nodes. */
  void awaitHolding(String lock, int number) {
    Eventually.untilAsserted(
        "'%s' stands on %d nodes".formatted(lock, number),
        () -> assertEquals(number, holding(lock).size()));
  }

  /** Sets the lock held there by somebody who is no client of ours. */
  void holdAsStranger(String lock, int place) {
    server(place).command("HSET", lock, "stranger:1", "1");
    server(place).command("PEXPIRE", lock, "120000");
  }

  /** What a stranger's release does. */
  void releaseAsStranger(String lock, int place) {
    server(place).command("DEL", lock);
    server(place).command("PUBLISH", channel(lock), "0");
  }

  /** How many connections are subscribed to the lock's channel, on all nodes. */
  long subscribers(String lock) {
    return IntStream.range(0, count()).mapToLong(place -> subscribers(lock, place)).sum();
  }

  private long subscribers(String lock, int place) {
    List<?> answer =
        (List<?>) Objects.requireNonNull(server(place).command("PUBSUB", "NUMSUB", channel(lock)));
    return (Long) answer.get(1);
  }

  /** Waits until somebody waits at a node; which. It is one of those that answered first. */
  int awaitWaiter(String lock) {
    Eventually.until("somebody waits", () -> subscribers(lock) == 1);
    return IntStream.range(0, count())
        .filter(place -> subscribers(lock, place) == 1)
        .findFirst()
        .orElseThrow();
  }

  static String channel(String lock) {
    return "redisson_lock__channel:{" + lock + "}";
  }

  static String tokenKey(String lock) {
    return "redisson_lock_token:{" + lock + "}";
  }

  long token(String lock, int place) {
    Object token = server(place).command("GET", tokenKey(lock));
    return token == null ? 0 : Long.parseLong((String) token);
  }

  @Override
  public void close() {
    proxies.forEach(FaultProxy::close);
    servers.forEach(RedisServer::close);
  }
}
