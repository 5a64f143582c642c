package io.mortise.it.multilock;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.multilock.MultiLock;
import io.mortise.scripts.Script;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Servers, in the order in which a MultiLock takes its members, each with one name for every test.
 * The process that is tested comes to them through proxies, another one directly.
 */
final class MemberServers
    implements BeforeAllCallback, AfterAllCallback, BeforeEachCallback, AfterEachCallback {
  static final Duration HOUR = Duration.ofHours(1);

  /** Longer than anything that works ever takes. */
  static final Duration LIVENESS = Duration.ofSeconds(20);

  /** The lease of all clients; a hold that Redis has lost is noticed after a third of it. */
  static final Duration LEASE = Duration.ofSeconds(3);

  /** What a server that does not answer costs. */
  static final Duration COMMAND_TIMEOUT = Duration.ofMillis(500);

  private record Site(RedisServer server, FaultProxy proxy) {
    /** As the client sees it, and as MultiLock compares it. */
    String address() {
      return proxy.host() + ":" + proxy.port();
    }
  }

  private final int count;
  private List<Site> sites = List.of();
  private List<LockClient> here = List.of();
  private List<LockClient> there = List.of();
  private String prefix = "";

  MemberServers(int count) {
    this.count = count;
  }

  // ---- what JUnit calls

  @Override
  public void beforeAll(ExtensionContext context) {
    List<Site> started = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      RedisServer server = RedisServer.start();
      started.add(new Site(server, FaultProxy.to(server)));
    }
    started.sort(Comparator.comparing(Site::address));
    sites = started;
  }

  @Override
  public void afterAll(ExtensionContext context) {
    for (Site site : sites) {
      site.proxy().close();
      site.server().close();
    }
  }

  @Override
  public void beforeEach(ExtensionContext context) throws Exception {
    prefix = Names.fresh();
    here = clients(FaultProxy::uri);
    there = IntStream.range(0, count).mapToObj(this::client).toList();
    warm(here);
    warm(there);
    sites.forEach(site -> site.server().resetStats());
  }

  private List<LockClient> clients(Function<FaultProxy, String> uri) {
    return sites.stream()
        .map(site -> LockClient.create(uri.apply(site.proxy()), options().build()))
        .toList();
  }

  /** Connects the clients, and makes the servers know the scripts. */
  private static void warm(List<LockClient> clients) throws InterruptedException {
    for (LockClient client : clients) {
      new RedisLock(client, Names.fresh()).acquire(LIVENESS).orElseThrow().close();
    }
  }

  @Override
  public void afterEach(ExtensionContext context) {
    restore();
    here.forEach(LockClient::close);
    there.forEach(LockClient::close);
    sites.forEach(site -> site.server().command("FLUSHALL"));
  }

  /** All is well again, whatever a test has left behind. */
  void restore() {
    for (Site site : sites) {
      site.proxy().restore();
      if (site.server().isRunning()) {
        site.server().resume();
      } else {
        site.server().restart();
      }
    }
  }

  // ---- locks

  static LockOptions.Builder options() {
    return LockOptions.builder()
        .lease(LEASE)
        .commandTimeout(COMMAND_TIMEOUT)
        .subscriptionLinger(Duration.ZERO);
  }

  int count() {
    return count;
  }

  RedisServer server(int i) {
    return sites.get(i).server();
  }

  FaultProxy proxy(int i) {
    return sites.get(i).proxy();
  }

  /** The client of the process that is tested. */
  LockClient here(int i) {
    return here.get(i);
  }

  /** That of another process. */
  LockClient there(int i) {
    return there.get(i);
  }

  /** One more process. The caller closes it. */
  LockClient client(int i) {
    return LockClient.create(server(i).uri(), options().build());
  }

  /** The name that belongs to this server and test. */
  String name(int i) {
    return prefix + ":" + i;
  }

  RedisLock lock(int i) {
    return new RedisLock(here(i), name(i));
  }

  RedisLock other(int i) {
    return new RedisLock(there(i), name(i));
  }

  /** The lock of all, in the process that is tested. */
  MultiLock multi() {
    return new MultiLock(IntStream.range(0, count).mapToObj(this::lock).toList());
  }

  /** The same in another process. */
  MultiLock otherMulti() {
    return new MultiLock(IntStream.range(0, count).mapToObj(this::other).toList());
  }

  // ---- what stands in Redis

  boolean exists(int i, String key) {
    return Objects.equals(1L, server(i).command("EXISTS", key));
  }

  /** Whether anybody holds the lock there. */
  boolean isHeld(int i) {
    return exists(i, name(i));
  }

  /** Where the lock is held. */
  Set<Integer> held() {
    return IntStream.range(0, count).filter(this::isHeld).boxed().collect(Collectors.toSet());
  }

  void awaitHeld(Set<Integer> places) {
    Eventually.untilAsserted("held there", () -> assertEquals(places, held()));
  }

  /** Sets the lock there held by somebody who is no client of ours. */
  void holdAsStranger(int i) {
    server(i).command("HSET", name(i), "stranger:1", "1");
    server(i).command("PEXPIRE", name(i), "600000");
  }

  /** What a stranger's release does. */
  void releaseAsStranger(int i) {
    server(i).command("DEL", name(i));
    server(i).command("PUBLISH", "redisson_lock__channel:{" + name(i) + "}", "0");
  }

  /** How often scripts were run there since the test began. */
  long calls(int i) {
    return server(i).commandStats().getOrDefault("evalsha", 0L);
  }

  /** Waits until the process has taken the first member, be it for a moment. */
  void awaitFirstTaken() {
    Eventually.until("the first was taken", () -> calls(0) >= 1);
  }

  /** Waits until the process has taken the first member and given it back. */
  void awaitFirstGivenBack() {
    Eventually.until("the first was taken and given back", () -> calls(0) >= 2);
  }

  long ttlMillis(int i) {
    return (Long) Objects.requireNonNull(server(i).command("PTTL", name(i)));
  }

  static String tokenKey(String name) {
    return "redisson_lock_token:{" + name + "}";
  }

  /** What is there beside tokens. */
  List<String> keysLeft(int i) {
    return ((List<?>) Objects.requireNonNull(server(i).command("KEYS", "*")))
        .stream()
            .map(String.class::cast)
            .filter(key -> !key.startsWith("redisson_lock_token:"))
            .toList();
  }

  /** Requests that run this script. */
  static Predicate<byte[]> calling(String script) {
    return FaultProxy.containing(new String(Script.load(script).sha1(), UTF_8));
  }

  /** The clients of the process come to have nothing in hand. */
  void awaitIdle() {
    here.forEach(ClientResources::awaitNone);
  }
}
