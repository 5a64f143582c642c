package io.mortise.cli.inspect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.RedisLock;
import io.mortise.core.internal.inspect.LockSearch.Found;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LockTableTest {
  private static final String TOKEN_KEY = "redisson_lock_token:{orders:42}";

  /** The keys are those of docs/wire.md, so that each number in the table is known. */
  @Test
  void holdersAndWaitersOfBothLibrariesAreAligned() {
    try (RedisServer server = RedisServer.start();
        LockClient client = LockClient.create(server.uri())) {
      String mortise = "0a1b2c3d-0000-8000-8000-000000000001";
      String redisson = "9f8e7d6c-0000-4000-8000-000000000002";
      long now = client.ping().servers().get(0).clockOffset().orElseThrow().toMillis();
      long waiterEnd = System.currentTimeMillis() + now + 600_000;
      server.command("HSET", "orders:42", mortise + ":1-z-lyw8p4zk", "1");
      server.command("SET", TOKEN_KEY, "1700000000000000");
      server.command("SET", "mortise_client:" + mortise, "host=web-1\npid=4711\n");
      server.command("RPUSH", "redisson_lock_queue:{orders:42}", redisson + ":77", "strange");
      server.command("ZADD", "redisson_lock_timeout:{orders:42}", waiterEnd + "", redisson + ":77");
      server.command("ZADD", "redisson_lock_timeout:{orders:42}", "1", "strange");

      List<String> lines =
          new LockTable(Instant.ofEpochSecond(1_700_000_012))
              .of(Census.take("x", client, "orders:42", false, 10), false);

      assertEquals(
          "LOCK       CLIENT             HOST:PROCESS  THREAD  SINCE   LEFT", lines.get(0));
      assertEquals("orders:42  fair lock, held, 2 wait, token 1700000000000000", lines.get(1));
      assertEquals(
          "  holds    0a1b2c3d           web-1:4711    35      12.0 s  no end", lines.get(2));
      assertTrue(
          lines
              .get(3)
              .matches("  waits 1  Redisson 9f8e7d6c  -             77      -       [0-9].*"),
          lines.get(3));
      assertEquals(
          "  waits 2  ? strange          -             -       -       over", lines.get(4));
      assertEquals(5, lines.size());
    }
  }

  /** A plain lock, a reader and a writer have another id each for the rest. */
  @Test
  void theRestOfAMinimumIsNoHold() {
    try (RedisServer server = RedisServer.start();
        LockClient client = LockClient.create(server.uri())) {
      for (DistributedLock lock :
          List.of(
              client.lock("report"),
              new RedisReadWriteLock(client, "read").readLock(),
              new RedisReadWriteLock(client, "write").writeLock())) {
        lock.atLeast(Duration.ofMinutes(5)).tryAcquire().orElseThrow().close();
        Census found = Census.take("x", client, lock.name(), false, 10);

        List<String> lines = new LockTable(Instant.now()).of(found, false);

        assertTrue(lines.get(2).startsWith("  kept "), lines.get(2));
        assertTrue(
            LocksJson.of(Instant.now(), List.of(found))
                .at("/servers/0/locks/0/holders/0/released")
                .asBoolean(),
            lock::name);
        assertTrue(
            found.found().locks().get(0).toString().contains(", released, and busy for the rest"),
            found::toString);
      }
    }
  }

  @Test
  void whatIsMissingIsSaid() {
    Census census =
        new Census(
            "redis://somewhere",
            new Found(List.of(), true, 3, false),
            Optional.of(
                new LockException(
                    Reason.UNREACHABLE, "no connection; raise LockOptions.commandTimeout", null)));

    assertEquals(
        List.of(
            "cannot be asked now: no connection; raise --timeout",
            "there are more than these 0 locks; --limit shows more, a pattern shows others",
            "3 hashes were not read, and may be locks: the user lacks rights, and after some refusals no more are asked for; a pattern of the keys that the user may read finds their locks"),
        new LockTable(Instant.EPOCH).of(census, false));
  }

  @Test
  void aLineFitsIntoATerminalWhateverTheHostIsCalled() {
    try (RedisServer server = RedisServer.start();
        LockClient client = LockClient.create(server.uri());
        LockClient holder = LockClient.create(server.uri());
        Lease held = new RedisLock(holder, "long").tryAcquire().orElseThrow()) {
      assertTrue(held.isValid());
      server.command(
          "SET", "mortise_client:" + holder.id(), "host=" + "very-long-".repeat(20) + "\npid=1\n");

      List<String> lines =
          new LockTable(Instant.now()).of(Census.take("x", client, "*", true, 10), false);

      assertTrue(lines.get(2).contains("very-long-very-long-"), lines.get(2));
      lines.forEach(line -> assertTrue(line.length() <= 120, line));
    }
  }
}
