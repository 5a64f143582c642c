package io.mortise.it.support;

import static java.util.Comparator.comparing;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.RedisServer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Independent servers, each behind a fault proxy, by their index in the order of the proxies'
 * addresses. As the static extension of a test class they run for all its tests; after each test
 * all faults are ended, no lock may be held, and clients and data are removed.
 */
public class ProxiedServers implements AfterEachCallback, AfterAllCallback, AutoCloseable {
  private static final String STRANGER = "stranger:1";

  private record Node(RedisServer server, FaultProxy proxy) {
    String address() {
      return proxy.host() + ":" + proxy.port();
    }
  }

  private final List<Node> nodes = new ArrayList<>();
  private final List<LockClient> clients = new ArrayList<>();

  /** Starts the servers. */
  public ProxiedServers(int count) {
    try {
      for (int i = 0; i < count; i++) {
        RedisServer server = RedisServer.start();
        nodes.add(new Node(server, FaultProxy.to(server)));
      }
    } catch (RuntimeException e) {
      stop();
      throw e;
    }
    nodes.sort(comparing(Node::address));
  }

  @Override
  public final void afterEach(ExtensionContext context) {
    try {
      restore();
      awaitNothingLeft();
    } finally {
      closeClients();
      nodes.forEach(node -> node.server().command("FLUSHALL"));
    }
  }

  /** Waits until no client holds a lock. */
  protected void awaitNothingLeft() {
    Eventually.untilAsserted(
        "no lock is left", () -> indices().forEach(i -> assertEquals(List.of(), heldByClients(i))));
  }

  private List<String> heldByClients(int index) {
    return keys(index).stream()
        .filter(key -> key.startsWith("it:")) // see Names
        .filter(key -> !holders(key, index).equals("[" + STRANGER + "]"))
        .toList();
  }

  @Override
  public final void afterAll(ExtensionContext context) {
    close();
  }

  @Override
  public void close() {
    stop();
  }

  private void stop() {
    closeClients();
    for (Node node : nodes) {
      node.proxy().close();
      node.server().close();
    }
  }

  private void closeClients() {
    clients.forEach(LockClient::close);
    clients.clear();
  }

  // ---- servers and clients

  public final int count() {
    return nodes.size();
  }

  protected final IntStream indices() {
    return IntStream.range(0, count());
  }

  public final RedisServer server(int index) {
    return nodes.get(index).server();
  }

  public final FaultProxy proxy(int index) {
    return nodes.get(index).proxy();
  }

  /** The URIs of the servers themselves. */
  public final List<String> uris() {
    return nodes.stream().map(node -> node.server().uri()).toList();
  }

  /** The URIs of the proxies. */
  public final List<String> proxyUris() {
    return nodes.stream().map(node -> node.proxy().uri()).toList();
  }

  /** Returns a client that is closed after the test. */
  public final LockClient client(String uri, LockOptions options) {
    LockClient client = LockClient.create(uri, options);
    clients.add(client);
    return client;
  }

  // ---- faults

  public final void begin(ServerFault fault, Collection<Integer> indices) {
    indices.forEach(i -> fault.begin(server(i), proxy(i)));
  }

  public final void begin(ServerFault fault, int... indices) {
    begin(fault, Arrays.stream(indices).boxed().toList());
  }

  /** Ends the faults of these servers and of their proxies. */
  public final void restore(Collection<Integer> indices) {
    for (int i : indices) {
      proxy(i).restore();
      if (server(i).isRunning()) {
        server(i).resume();
      } else {
        server(i).restart();
      }
    }
  }

  public final void restore(int... indices) {
    restore(Arrays.stream(indices).boxed().toList());
  }

  /** Ends all faults. */
  public final void restore() {
    restore(indices().boxed().toList());
  }

  // ---- data in Redis

  public static String tokenKey(String lock) {
    return "redisson_lock_token:{" + lock + "}";
  }

  public final boolean exists(String key, int index) {
    return Objects.equals(1L, server(index).command("EXISTS", key));
  }

  /** All keys except tokens and the records of clients. */
  public final List<String> keys(int index) {
    return ((List<?>) Objects.requireNonNull(server(index).command("KEYS", "*")))
        .stream()
            .map(String.class::cast)
            .filter(key -> !key.startsWith("redisson_lock_token:"))
            .filter(key -> !ClientRecords.isRecord(key))
            .toList();
  }

  /** The servers on which the lock is held. */
  public final Set<Integer> holding(String lock) {
    return indices().filter(i -> exists(lock, i)).boxed().collect(Collectors.toSet());
  }

  /** Waits until the lock is held on exactly that many servers. */
  public final void awaitHolding(String lock, int number) {
    Eventually.untilAsserted(
        "'%s' is held on %d servers".formatted(lock, number),
        () -> assertEquals(number, holding(lock).size()));
  }

  /** The holders of the lock, as the text of a list. */
  public final String holders(String lock, int index) {
    return String.valueOf(server(index).command("HKEYS", lock));
  }

  /** Makes the lock held by a holder that is not one of our clients. */
  public final void holdAsStranger(String lock, int... indices) {
    for (int i : indices) {
      server(i).command("HSET", lock, STRANGER, "1");
      server(i).command("PEXPIRE", lock, "600000");
    }
  }

  /** Releases the lock as the stranger's client does. */
  public final void releaseAsStranger(String lock, int index) {
    server(index).command("DEL", lock);
    server(index).command("PUBLISH", SharedRedis.channel(lock), "0");
  }

  /** The connections that are subscribed for those that wait for the lock. */
  public final long subscribers(String lock) {
    return indices().mapToLong(i -> subscribers(lock, i)).sum();
  }

  public final long subscribers(String lock, int index) {
    return SharedRedis.subscribers(server(index), lock);
  }

  /** The scripts that the server has run. */
  public final long scriptCalls(int index) {
    return server(index).commandStats().getOrDefault("evalsha", 0L);
  }

  public final long scriptCalls() {
    return indices().mapToLong(this::scriptCalls).sum();
  }
}
