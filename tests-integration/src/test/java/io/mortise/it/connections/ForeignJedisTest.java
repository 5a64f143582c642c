package io.mortise.it.connections;

import static io.mortise.it.support.Eventually.holdsFor;
import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.LoggedWarnings;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;

/** Locks on the connections of a Jedis client that the application owns. */
@Timeout(60)
class ForeignJedisTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final int POOL = 8;

  private static RedisClient jedis() {
    RedisClient jedis = RedisClient.create(redis.server().host(), redis.server().port());
    jedis.getPool().setMaxTotal(POOL);
    return jedis;
  }

  @Test
  void fortyThreadsShareAPoolOfEightWithTheirOwner() throws Exception {
    try (RedisClient jedis = jedis();
        LockClient client = LockClient.create(jedis)) {
      List<String> names = List.of(Names.fresh(), Names.fresh(), Names.fresh(), Names.fresh());
      int[] counts = new int[names.size()];
      List<AsyncCall<Void>> callers = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        int at = i % names.size();
        RedisLock lock = new RedisLock(client, names.get(at));
        callers.add(
            AsyncCall.run(
                () -> {
                  for (int j = 0; j < 10; j++) {
                    lock.lock();
                    counts[at]++;
                    lock.unlock();
                  }
                }));
      }
      for (int i = 0; i < 50; i++) {
        assertEquals("PONG", jedis.ping());
      }
      AsyncCall.join(callers);
      for (int count : counts) {
        assertEquals(100, count);
      }
      assertEquals(0, jedis.getPool().getNumActive());
    }
  }

  @Test
  void waitersAndHoldersTakeNoConnectionFromThePool() throws Exception {
    try (RedisClient jedis = jedis();
        LockClient client = LockClient.create(jedis)) {
      List<AsyncCall<Boolean>> waiters = new ArrayList<>();
      for (int i = 0; i < 2 * POOL; i++) {
        String name = Names.fresh();
        redis.holdAsStranger(name, 60_000);
        waiters.add(
            AsyncCall.start(() -> new RedisLock(client, name).tryLock(Duration.ofSeconds(40))));
        redis.awaitSubscriber(name);
      }
      for (AsyncCall<Boolean> waiter : waiters) {
        waiter.awaitParked();
      }
      until("no connection is in use", () -> jedis.getPool().getNumActive() == 0);
      assertEquals("PONG", jedis.ping());
    }
  }

  @Test
  void theJedisClientStaysOpenWhenTheLockClientIsClosed() {
    try (RedisClient jedis = jedis()) {
      String name = Names.fresh();
      LockClient client = LockClient.create(jedis);
      RedisLock lock = new RedisLock(client, name);
      lock.lock();
      client.close();
      assertFalse(redis.exists(name));
      assertEquals(0, client.status().connectionsInUse());
      assertEquals("PONG", jedis.ping());
      try (LockClient next = LockClient.create(jedis)) {
        assertTrue(new RedisLock(next, name).tryLock());
      }
      assertEquals("PONG", jedis.ping());
    }
  }

  /** The heartbeat of a subscription comes much later than the limit of the client for a read. */
  @Test
  void aSubscriptionOutlivesASilenceBeyondTheReadLimitOfTheJedisClient() throws Exception {
    LoggedWarnings.note();
    DefaultJedisClientConfig config =
        DefaultJedisClientConfig.builder().blockingSocketTimeoutMillis(300).build();
    HostAndPort server = new HostAndPort(redis.server().host(), redis.server().port());
    try (RedisClient jedis =
        RedisClient.builder().hostAndPort(server).clientConfig(config).build()) {
      LockClient client = LockClient.create(jedis);
      String name = Names.fresh();
      redis.holdAsStranger(name, 60_000);
      AsyncCall<Boolean> waiter =
          AsyncCall.start(() -> new RedisLock(client, name).tryLock(Duration.ofSeconds(40)));
      redis.awaitSubscriber(name);
      until("no connection of another test is left", () -> subscribers().size() == 1);
      List<String> first = subscribers();

      holdsFor(
          Duration.ofSeconds(3), "the same one is subscribed", () -> subscribers().equals(first));

      client.close();
      assertThrows(LockException.class, waiter::get);
      redis.delete(name);
      String logged = "RedisClient@" + Integer.toHexString(System.identityHashCode(jedis));
      assertEquals(List.of(), LoggedWarnings.about(logged));
    }
  }

  /** Returns the ids of the connections that are subscribed. */
  private static List<String> subscribers() {
    return redis
        .command("CLIENT", "LIST", "TYPE", "pubsub")
        .toString()
        .lines()
        .map(line -> line.substring(0, line.indexOf(' ')))
        .toList();
  }

  /** Its connections would still serve it. */
  @Test
  void aWaiterOfAClosedClientAsksNoMore() throws Exception {
    try (RedisClient jedis = jedis()) {
      String name = Names.fresh();
      LockClient client = LockClient.create(jedis);
      redis.holdAsStranger(name, 60_000);
      AsyncCall<Boolean> waiter =
          AsyncCall.start(() -> new RedisLock(client, name).tryLock(Duration.ofSeconds(40)));
      waiter.awaitParked();

      client.close();

      LockException thrown = assertThrows(LockException.class, waiter::get);
      assertEquals(LockException.Reason.CLIENT_CLOSED, thrown.reason());
    }
  }

  @Test
  void aCommandInProgressAtTheCloseReturnsItsConnectionToThePool() throws Exception {
    try (RedisServer own = RedisServer.start();
        RedisClient jedis = RedisClient.create(own.host(), own.port())) {
      jedis.getPool().setMaxTotal(1);
      LockClient client = LockClient.create(jedis);
      RedisLock lock = new RedisLock(client, Names.fresh());
      assertFalse(lock.isLocked());
      own.pause();
      AsyncCall<LockException> asking =
          AsyncCall.start(() -> assertThrows(LockException.class, lock::isLocked));
      until("it is in progress", () -> jedis.getPool().getNumActive() == 1);

      client.close();

      asking.get();
      own.resume();
      assertEquals(0, jedis.getPool().getNumActive());
      assertEquals("PONG", jedis.ping());
    }
  }

  @Test
  void aJedisClientThatIsClosedTooEarlyIsReportedAndTheLockClientStillCloses() {
    RedisClient jedis = jedis();
    LockClient client = LockClient.create(jedis);
    RedisLock lock = new RedisLock(client, Names.fresh());
    assertTrue(lock.tryLock());
    jedis.close();
    assertThrows(LockException.class, lock::unlock);
    assertThrows(LockException.class, lock::tryLock);
    client.close();
    redis.delete(lock.name());
  }

  /**
   * Nobody has interrupted it: the pool of the Jedis client interrupts its waiters to wake them.
   */
  @Test
  void theCloseOfAJedisClientInterruptsNoThreadThatWaitsForAConnection() throws Exception {
    for (Attempt attempt :
        List.<Attempt>of(
            lock -> lock.tryLock(Duration.ofSeconds(5)),
            RedisLock::lockInterruptibly,
            RedisLock::lock)) {
      try (RedisClient jedis = jedis();
          LockClient client = LockClient.create(jedis)) {
        jedis.getPool().setMaxTotal(1);
        Connection inUse = jedis.getPool().getResource();
        RedisLock lock = new RedisLock(client, Names.fresh());
        AsyncCall<Boolean> waiter =
            AsyncCall.start(
                () -> {
                  LockException thrown =
                      assertThrows(LockException.class, () -> attempt.acquire(lock));
                  assertEquals(LockException.Reason.CLIENT_CLOSED, thrown.reason());
                  return Thread.currentThread().isInterrupted();
                });
        until("it waits for a connection", () -> jedis.getPool().getNumWaiters() == 1);

        jedis.getPool().close();

        assertFalse(waiter.get());
        inUse.close();
      }
    }
  }

  /** One of the ways to acquire a lock. */
  private interface Attempt {
    void acquire(RedisLock lock) throws Exception;
  }

  @Test
  void twoClientsOnOneJedisClientExcludeEachOther() throws Exception {
    try (RedisClient jedis = jedis();
        LockClient one = LockClient.create(jedis);
        LockClient two = LockClient.create(jedis)) {
      String name = Names.fresh();
      AtomicInteger inside = new AtomicInteger();
      List<AsyncCall<Void>> callers = new ArrayList<>();
      for (LockClient client : List.of(one, two)) {
        RedisLock lock = new RedisLock(client, name);
        callers.add(
            AsyncCall.run(
                () -> {
                  for (int i = 0; i < 100; i++) {
                    lock.lock();
                    try {
                      assertEquals(1, inside.incrementAndGet());
                      inside.decrementAndGet();
                    } finally {
                      lock.unlock();
                    }
                  }
                }));
      }
      AsyncCall.join(callers);
    }
  }
}
