package io.mortise.it.multilock;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.it.support.ProxiedServers;
import io.mortise.it.support.SharedRedis;
import io.mortise.multilock.MultiLock;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestInstanceFactoryContext;
import org.junit.jupiter.api.extension.TestInstancePreConstructCallback;

/**
 * Servers in the order in which a MultiLock acquires its members, each with one lock name for every
 * test. The process under test reaches them through proxies, another one directly.
 */
final class MemberServers extends ProxiedServers implements TestInstancePreConstructCallback {
  static final Duration HOUR = Duration.ofHours(1);

  /** A loss in Redis is noticed after a third of it. */
  private static final Duration SHORT_LEASE = Duration.ofSeconds(3);

  private static final Duration SHORT_TIMEOUT = Duration.ofMillis(1_500);

  private final Duration commandTimeout;
  private final Duration lease;
  private List<LockClient> here = List.of();
  private List<LockClient> there = List.of();
  private String prefix = "";

  /**
   * Servers whose clients have a short command timeout, for tests in which one is silent; a healthy
   * one answers within it on a busy machine too.
   */
  MemberServers(int count) {
    this(count, SHORT_TIMEOUT);
  }

  /** Servers whose clients have this command timeout. */
  MemberServers(int count, Duration commandTimeout) {
    this(count, commandTimeout, SHORT_LEASE);
  }

  /** Servers whose clients have this command timeout and lease. */
  MemberServers(int count, Duration commandTimeout, Duration lease) {
    super(count);
    this.commandTimeout = commandTimeout;
    this.lease = lease;
  }

  /** Connects the clients, so that the fields of a test may be locks. */
  @Override
  public void preConstructTestInstance(TestInstanceFactoryContext type, ExtensionContext context) {
    prefix = Names.fresh();
    here = clients(proxyUris());
    there = clients(uris());
    indices().forEach(i -> server(i).resetStats());
  }

  private List<LockClient> clients(List<String> uris) {
    List<LockClient> clients = uris.stream().map(uri -> client(uri, ownOptions())).toList();
    clients.forEach(SharedRedis::warm);
    return clients;
  }

  @Override
  protected void awaitNothingLeft() {
    super.awaitNothingLeft();
    awaitIdle();
  }

  /** Waits until the clients of both processes use nothing. */
  void awaitIdle() {
    Stream.of(here, there)
        .flatMap(List::stream)
        .filter(client -> !client.isClosed())
        .forEach(ClientResources::awaitNone);
  }

  // ---- locks

  static LockOptions.Builder options() {
    return LockOptions.builder()
        .lease(SHORT_LEASE)
        .commandTimeout(SHORT_TIMEOUT)
        .tuning(t -> t.subscriptionLinger(Duration.ZERO));
  }

  private LockOptions ownOptions() {
    return options().lease(lease).commandTimeout(commandTimeout).build();
  }

  /** The client of the process under test. */
  LockClient here(int i) {
    return here.get(i);
  }

  /** The client of the other process. */
  LockClient there(int i) {
    return there.get(i);
  }

  /** A client of one more process. */
  LockClient client(int i) {
    return client(server(i).uri(), ownOptions());
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

  /** The lock of all members, in the process under test. */
  MultiLock multi() {
    return new MultiLock(indices().mapToObj(this::lock).toList());
  }

  /** The same in the other process. */
  MultiLock otherMulti() {
    return new MultiLock(indices().mapToObj(this::other).toList());
  }

  // ---- data in Redis

  boolean isHeld(int i) {
    return exists(name(i), i);
  }

  /** The servers on which the member is held. */
  Set<Integer> held() {
    return indices().filter(this::isHeld).boxed().collect(Collectors.toSet());
  }

  void awaitHeld(Set<Integer> servers) {
    Eventually.untilAsserted("held there", () -> assertEquals(servers, held()));
  }

  void holdAsStranger(int i) {
    holdAsStranger(name(i), i);
  }

  void releaseAsStranger(int i) {
    releaseAsStranger(name(i), i);
  }

  /** Waits until the process has acquired the first member, even for a moment. */
  void awaitFirstAcquired() {
    Eventually.until("the first is acquired", () -> scriptCalls(0) >= 1);
  }

  /** Waits until the process has acquired the first member and released it. */
  void awaitFirstReleased() {
    Eventually.until("the first is acquired and released", () -> scriptCalls(0) >= 2);
  }

  long ttlMillis(int i) {
    return (Long) Objects.requireNonNull(server(i).command("PTTL", name(i)));
  }
}
