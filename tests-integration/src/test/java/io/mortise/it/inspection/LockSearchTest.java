package io.mortise.it.inspection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockInspection;
import io.mortise.core.LockInspection.Mode;
import io.mortise.core.LockInspection.Participant;
import io.mortise.core.RedisLock;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.inspect.LockSearch;
import io.mortise.core.internal.inspect.LockSearch.Found;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.it.support.RedissonPeers;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.RedisCluster;
import io.mortise.testkit.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which locks a search finds among the keys of a database. */
@Timeout(60)
class LockSearchTest {
  @RegisterExtension static final RedissonPeers peers = new RedissonPeers();

  private final String prefix = Names.fresh() + ":";

  private static LockSearch search(LockClient client) {
    return ((RedisLockClient) client).search();
  }

  private static List<String> names(Found found) {
    return found.locks().stream().map(LockInspection::name).toList();
  }

  private static void command(String... words) {
    assertNotNull(peers.server().command(words));
  }

  @Test
  void locksOfAllFamiliesAndOfRedissonAreFoundAndOtherKeysAreNot() {
    command("HSET", prefix + "user", "name", "Ada", "visits", "3");
    command("HSET", prefix + "uuid", "9f8e7d6c-0000-4000-8000-000000000002", "1");
    command("SET", prefix + "text", "1");
    command("HSET", prefix + "open{brace", "9f8e7d6c-0000-4000-8000-000000000002:7", "1");
    RedisReadWriteLock readWrite = new RedisReadWriteLock(peers.there(), prefix + "c");
    Lock fair = peers.redisson().getFairLock(prefix + "b");
    Lock read = peers.redisson().getReadWriteLock(prefix + "{d}").readLock();
    fair.lock();
    read.lock();
    readWrite.writeLock().lock();
    try (Lease held = new RedisLock(peers.here(), prefix + "a").tryAcquire().orElseThrow()) {
      assertTrue(held.isValid());

      Found found = search(peers.here()).find(prefix + "*", 100);

      assertEquals(List.of(prefix + "a", prefix + "b", prefix + "c", prefix + "{d}"), names(found));
      assertFalse(found.hasMore());
      assertEquals(0, found.unreadable());
      assertEquals(
          List.of(Mode.EXCLUSIVE, Mode.EXCLUSIVE, Mode.WRITE, Mode.READ),
          found.locks().stream().map(LockInspection::mode).toList());
    } finally {
      readWrite.writeLock().unlock();
      read.unlock();
      fair.unlock();
    }
  }

  @Test
  void aFreeLockWithAQueueOfTheDeadIsFound() {
    String queue = "redisson_lock_queue:{" + prefix + "stuck}";
    String deadlines = "redisson_lock_timeout:{" + prefix + "stuck}";
    command("RPUSH", queue, "9f8e7d6c-0000-4000-8000-000000000002:7");
    command("ZADD", deadlines, "1", "9f8e7d6c-0000-4000-8000-000000000002:7");
    try {
      Found found = search(peers.here()).find(prefix + "st*", 100);

      assertEquals(List.of(prefix + "stuck"), names(found));
      assertEquals(Mode.FREE, found.locks().get(0).mode());
      assertEquals(1, found.locks().get(0).queueLength());
      assertEquals(List.of(), names(search(peers.here()).find(prefix + "other*", 100)));
      // Redis takes the end of a pattern for the end of a class.
      assertEquals(
          List.of(prefix + "stuck"), names(search(peers.here()).find(prefix + "stuc[k", 100)));
      assertEquals(List.of(), names(search(peers.here()).find(prefix + "stuck\\", 100)));
    } finally {
      command("DEL", queue, deadlines);
    }
  }

  /** The queue of a lock has its name with braces around it, or as it is. */
  @ParameterizedTest
  @ValueSource(strings = {"%sa", "%sa}b", "{%sa}", "{%sa}b}", "{%sa}:{b}"})
  void aHeldLockWithAQueueIsFoundOnce(String format) {
    String name = format.formatted(prefix);
    RedisFairLock lock = new RedisFairLock(peers.here(), name);
    try (Lease held = lock.tryAcquire().orElseThrow()) {
      assertTrue(held.isValid());
      CompletableFuture<Optional<Lease>> waiter =
          new RedisFairLock(peers.there(), name)
              .acquireAsync(Eventually.LIVENESS)
              .toCompletableFuture();
      Eventually.until("it waits", () -> lock.queueLength() == 1);

      Found found = search(peers.here()).find("*" + prefix + "*", 100);

      assertEquals(List.of(name), names(found));
      assertEquals(1, found.locks().get(0).queueLength());
      waiter.cancel(true);
    }
  }

  @Test
  void aLargeDatabaseIsReadInStepsUntilTheLimit() {
    try (RedisServer server = RedisServer.start();
        LockClient client = LockClient.create(server.uri())) {
      server.command(
          "EVAL",
          "for i = 1, 20000 do redis.call('HSET', 'user:' .. i, 'name', i) end;"
              + " for i = 1, 30 do"
              + " redis.call('HSET', 'job:' .. i, '9f8e7d6c-0000-4000-8000-000000000002:7', 1) end"
              + " return 1",
          "0");
      server.resetStats();

      Found all = search(client).find("*", 100);
      Found some = search(client).find("*", 10);

      assertEquals(30, all.locks().size());
      assertFalse(all.hasMore());
      assertEquals(10, some.locks().size());
      assertTrue(some.hasMore());
      assertTrue(server.commandStats().get("scan") >= 20, server.commandStats()::toString);
      assertFalse(server.commandStats().containsKey("keys"));
    }
  }

  /**
   * Makes a hash with few fields in a large table, and removes it again, unless Redis returns a
   * page of it without any.
   */
  private static final String SPARSE =
      """
      local key = KEYS[1]
      for j = 1, 1000 do
        redis.call('HSET', key, '9f8e7d6c-0000-4000-8000-000000000002:' .. ARGV[1] * 1000 + j, 1)
      end
      for j = 141, 1000 do
        redis.call('HDEL', key, '9f8e7d6c-0000-4000-8000-000000000002:' .. ARGV[1] * 1000 + j)
      end
      if #redis.call('HSCAN', key, 0, 'COUNT', 2)[2] == 0 then
        return 1
      end
      redis.call('DEL', key)
      return 0
      """;

  @Test
  void aLockThatHasLostMostOfItsHoldersIsFound() {
    try (RedisServer server = RedisServer.start();
        LockClient client = LockClient.create(server.uri())) {
      String name =
          IntStream.rangeClosed(1, 3_000)
              .filter(
                  i ->
                      Long.valueOf(1)
                          .equals(server.command("EVAL", SPARSE, "1", "sparse:" + i, "" + i)))
              .mapToObj(i -> "sparse:" + i)
              .findFirst()
              .orElseThrow(() -> new AssertionError("each page has a field"));

      assertEquals(List.of(name), names(search(client).find("*", 10)));
    }
  }

  @Test
  void whatTheUserMayNotReadIsCounted() {
    try (RedisServer server = RedisServer.start()) {
      server.command("HSET", "mine:1", "9f8e7d6c-0000-4000-8000-000000000002:7", "1");
      server.command("HSET", "theirs:1", "9f8e7d6c-0000-4000-8000-000000000002:7", "1");
      server.command(
          "ACL", "SETUSER", "me", "reset", "on", ">pw", "+@all", "~*mine*", "~mortise_client:*");
      try (LockClient client =
          LockClient.create("redis://me:pw@%s:%d".formatted(server.host(), server.port()))) {
        Found found = search(client).find("*", 10);

        assertEquals(List.of("mine:1"), names(found));
        assertEquals(1, found.unreadable());
      }
    }
  }

  @Test
  void allMastersOfAClusterAreSearched() {
    try (RedisCluster cluster = RedisCluster.builder().masters(3).replicas(0).start()) {
      String uri = String.join(",", cluster.uris()).replace(",redis://", ",");
      try (LockClient client = LockClient.create(uri);
          LockClient other = LockClient.create(uri)) {
        List<Lease> held = new ArrayList<>();
        TreeSet<Integer> masters = new TreeSet<>();
        for (int i = 0; i < 9; i++) {
          held.add(new RedisLock(other, "job:" + i).tryAcquire().orElseThrow());
          masters.add(cluster.masterOf("job:" + i).port());
        }
        assertEquals(3, masters.size(), "names at each master");

        Found found = search(client).find("job:*", 100);

        assertEquals(9, found.locks().size());
        for (LockInspection lock : found.locks()) {
          assertEquals(
              List.of(other.id()),
              lock.holders().stream().map(Participant::clientId).map(id -> id.orElse("")).toList());
        }
        held.forEach(Lease::close);
      }
    }
  }

  @Test
  void oneOfSeveralThatIsNoLockDoesNotHideTheOthers() {
    command("SET", prefix + "text", "1");

    List<LockInspection> found =
        search(peers.here()).inspect(List.of(prefix + "text", prefix + "free"));

    assertEquals(
        List.of(Mode.UNKNOWN, Mode.FREE), found.stream().map(LockInspection::mode).toList());
    assertTrue(found.get(0).failure().isPresent());
    command("DEL", prefix + "text");
  }
}
