package io.mortise.it.memory;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.multilock.MultiLock;
import io.mortise.redlock.RedLock;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.InMemoryRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code InMemoryRedis.timeOutNextWait} for the locks of every family: none waits for its hour. */
@Timeout(60)
class TimeOutNextWaitTest {
  private static final Duration HOUR = Duration.ofHours(1);
  private static final String NAME = "busy";

  /** The last of them is asked for the time-outs. */
  private final List<InMemoryRedis> servers =
      List.of(InMemoryRedis.start(), InMemoryRedis.start(), InMemoryRedis.start());

  @AfterEach
  void closeServers() {
    servers.forEach(InMemoryRedis::close);
  }

  private InMemoryRedis last() {
    return servers.get(servers.size() - 1);
  }

  /** Asserts it of a lock that another process has on all servers. */
  private void assertTimesOut(
      Function<LockClient, DistributedLock> busy, Function<List<LockClient>, DistributedLock> lock)
      throws InterruptedException {
    List<Lease> others = new ArrayList<>();
    servers.forEach(server -> others.add(server.occupy(busy)));
    DistributedLock tried = lock.apply(servers.stream().map(InMemoryRedis::client).toList());

    last().timeOutNextWait();
    assertFalse(tried.tryLock(HOUR), "of a thread");
    last().timeOutNextWait();
    assertTrue(tried.acquire(HOUR).isEmpty(), "a handle");
    last().timeOutNextWait();
    Optional<Lease> async = tried.acquireAsync(HOUR).toCompletableFuture().join();
    assertTrue(async.isEmpty(), "asynchronously");

    assertTrue(others.stream().allMatch(Lease::isValid));
    others.forEach(Lease::close);
    assertTrue(tried.tryLock(HOUR), "a free lock");
    tried.unlock();
  }

  private void assertTimesOut(Function<LockClient, DistributedLock> lock)
      throws InterruptedException {
    assertTimesOut(lock, clients -> lock.apply(clients.get(clients.size() - 1)));
  }

  @Test
  void ofAPlainLock() throws InterruptedException {
    assertTimesOut(client -> new RedisLock(client, NAME));
  }

  @Test
  void ofAFairLockWhichLeavesNoPlaceInTheQueue() throws InterruptedException {
    assertTimesOut(client -> new RedisFairLock(client, NAME));
  }

  @Test
  void ofAReaderAndOfAWriter() throws InterruptedException {
    assertTimesOut(client -> new RedisReadWriteLock(client, NAME).writeLock());
    assertTimesOut(
        client -> new RedisReadWriteLock(client, NAME).writeLock(),
        clients -> new RedisReadWriteLock(clients.get(2), NAME).readLock());
  }

  @Test
  void ofAMultiLockOfOneServer() throws InterruptedException {
    assertTimesOut(
        client -> client.lock(NAME),
        clients -> new MultiLock(clients.get(2).lock("free"), clients.get(2).lock(NAME)));
  }

  @Test
  void ofAMultiLockWithAMemberOnTheServer() throws InterruptedException {
    assertTimesOut(
        client -> client.lock(NAME),
        clients -> new MultiLock(clients.get(0).lock(NAME), clients.get(2).lock("other")));
  }

  @Test
  void ofARedLockWithAMemberOnTheServer() throws InterruptedException {
    assertTimesOut(
        client -> client.lock(NAME),
        clients -> new RedLock(clients.stream().map(client -> client.lock(NAME)).toList()));
  }

  /** The members of a lock that waits are no waits of callers. */
  @Test
  void aCallOfACompositeLockTakesOne() throws InterruptedException {
    servers.forEach(server -> server.occupy(client -> client.lock(NAME)));
    List<LockClient> clients = servers.stream().map(InMemoryRedis::client).toList();
    DistributedLock all = new MultiLock(clients.stream().map(client -> client.lock(NAME)).toList());
    last().timeOutNextWait();
    last().timeOutNextWait();

    assertFalse(all.tryLock(HOUR));
    assertFalse(clients.get(2).lock(NAME).tryLock(HOUR), "the second one is left");
  }
}
