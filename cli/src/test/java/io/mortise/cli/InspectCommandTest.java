package io.mortise.cli;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.JavaProcess;
import io.mortise.testkit.RedisCluster;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(60)
class InspectCommandTest {
  @RegisterExtension static final RedisAndClient redis = new RedisAndClient();

  private final String name = "it:" + UUID.randomUUID();

  /** A JVM that starts beside others on a busy machine. */
  private static final Duration PROCESS_START = Duration.ofSeconds(40);

  private static CommandRun inspect(String... arguments) {
    String[] all = new String[arguments.length + 3];
    System.arraycopy(new String[] {"inspect", "--redis", redis.uri()}, 0, all, 0, 3);
    System.arraycopy(arguments, 0, all, 3, arguments.length);
    return CommandRun.of(all);
  }

  private static JsonNode only(CommandRun run) throws Exception {
    JsonNode locks = new ObjectMapper().readTree(run.out()).at("/servers/0/locks");
    assertEquals(1, locks.size(), run::out);
    return locks.get(0);
  }

  @Test
  void aLockThatIsHeldIsStatusZeroAndNamesItsHolder() {
    try (Lease held = new RedisLock(redis.client(), name).tryAcquire().orElseThrow()) {
      assertTrue(held.isValid());

      CommandRun run = inspect(name);

      assertEquals(0, run.status(), run::err);
      assertTrue(run.out().contains(name + "  lock, held, token " + held.fencingToken()), run::out);
      assertTrue(run.out().contains("  holds"), run::out);
      assertTrue(run.out().contains(redis.client().id().substring(0, 8)), run::out);
      assertFalse(run.out().contains("\u001b"), "no colours without a terminal");
    }
    CommandRun run = inspect(name);
    assertEquals(1, run.status());
    assertTrue(run.out().contains(name + "  lock, free"), run::out);
  }

  @Test
  void theQueueOfAFairLockIsShownInItsOrder() throws Exception {
    RedisFairLock lock = new RedisFairLock(redis.client(), name);
    try (LockClient other = LockClient.create(redis.uri());
        Lease held = lock.tryAcquire().orElseThrow()) {
      assertTrue(held.isValid());
      var first = new RedisFairLock(other, name).acquireAsync(Duration.ofSeconds(30));
      await().until(() -> lock.queueLength() == 1);
      var second = lock.acquireAsync(Duration.ofSeconds(30));
      await().until(() -> lock.queueLength() == 2);

      JsonNode found = only(inspect("--json", name));

      assertEquals("fair lock", found.path("type").asText());
      assertEquals("exclusive", found.path("mode").asText());
      assertEquals(2, found.path("queueLength").asInt());
      assertEquals(redis.client().id(), found.at("/holders/0/client").asText());
      assertEquals(other.id(), found.at("/waiters/0/client").asText());
      assertEquals(redis.client().id(), found.at("/waiters/1/client").asText());
      assertTrue(found.at("/waiters/0/remainingMillis").asLong() > 1_000, found::toString);
      assertFalse(found.at("/waiters/0/askedAt").isMissingNode(), found::toString);
      first.toCompletableFuture().cancel(true);
      second.toCompletableFuture().cancel(true);
    }
  }

  @Test
  void aReadWriteLockHasItsReadersAndAHoldOfRedissonItsLibrary() {
    RedisReadWriteLock lock = new RedisReadWriteLock(redis.client(), name);
    lock.readLock().lock();
    String redisson = name + ":redisson";
    redis.server().command("HSET", redisson, "9f8e7d6c-0000-4000-8000-000000000002:77", "2");
    redis.server().command("PEXPIRE", redisson, "30000");
    try {
      CommandRun run = inspect("--limit", "10", name + "*");

      assertEquals(0, run.status(), run::err);
      assertTrue(run.out().contains(name + "  read-write lock, held for reading"), run::out);
      assertTrue(run.out().contains("  reads"), run::out);
      assertTrue(run.out().matches("(?s).*  holds x2 +Redisson 9f8e7d6c  -  .* 77 .*"), run::out);
    } finally {
      redis.server().command("DEL", redisson);
      lock.readLock().unlock();
    }
  }

  @Test
  void moreLocksThanTheLimitAreSaid() {
    try (Lease one = new RedisLock(redis.client(), name + ":1").tryAcquire().orElseThrow();
        Lease two = new RedisLock(redis.client(), name + ":2").tryAcquire().orElseThrow()) {
      assertTrue(one.isValid() && two.isValid());

      CommandRun run = inspect("--limit", "1", name + ":*");

      assertEquals(1, run.out().lines().filter(line -> line.startsWith(name)).count(), run::out);
      assertTrue(run.out().contains("more than these 1 locks"), run::out);
    }
  }

  @Test
  void theNamespaceIsTheBeginningOfNamesAndPatterns() {
    try (Lease held = new RedisLock(redis.client(), name + ":inside").tryAcquire().orElseThrow()) {
      assertTrue(held.isValid());

      assertEquals(0, inspect("--namespace", name + ":", "inside").status());
      assertTrue(inspect("--namespace", name + ":", "ins*").out().contains(name + ":inside"));
      assertEquals("no lock matches 'outs*'", inspect("--namespace", name, "outs*").out().strip());
    }
  }

  @Test
  void aNamespaceMakesNoNameOfABlankOne() {
    for (String blank : new String[] {"", " "}) {
      CommandRun run = inspect("--namespace", "billing:", blank);

      assertEquals(2, run.status(), run::out);
      assertTrue(run.err().contains("a name that is not blank"), run::err);
    }
  }

  @Test
  void aNameThatLooksLikeAPatternIsANameWithExact() {
    try (Lease held = new RedisLock(redis.client(), name + "[*").tryAcquire().orElseThrow()) {
      assertTrue(held.isValid());

      CommandRun run = inspect("--exact", name + "[*");

      assertEquals(0, run.status(), run::err);
      assertTrue(run.out().contains(name + "[*  lock, held"), run::out);
      assertEquals(1, inspect("--exact", name + "*").status());
    }
  }

  @Test
  void aServerThatCannotBeAskedDoesNotHideTheOthers() {
    try (Lease held = new RedisLock(redis.client(), name).tryAcquire().orElseThrow()) {
      assertTrue(held.isValid());

      CommandRun run = inspect("--redis", "redis://127.0.0.1:1", name);

      assertEquals(0, run.status(), run::err);
      assertTrue(run.out().contains(name + "  lock, held"), run::out);
      assertTrue(run.out().contains("cannot be asked now"), run::out);
    }
  }

  @Test
  void aLockIsNotCalledFreeWhileAServerIsSilent() {
    CommandRun run = inspect("--redis", "redis://127.0.0.1:1", name);

    assertEquals(3, run.status(), run::err);
    assertTrue(run.out().contains("cannot be asked now"), run::out);
  }

  @Test
  void whatIsInRedisDoesNotSteerTheTerminal() throws Exception {
    String odd = name + ":\u202e\u2028\u00e9";
    try (Lease held = new RedisLock(redis.client(), odd).tryAcquire().orElseThrow()) {
      assertTrue(held.isValid());

      CommandRun json = inspect("--json", odd);

      assertTrue(json.out().chars().allMatch(c -> c < 0x80), json::out);
      assertEquals(odd, only(json).path("name").asText());
      assertTrue(inspect(odd).out().contains(name + ":??\u00e9  lock, held"));
    }
  }

  @Test
  void aFullDiskEndsIt() throws Exception {
    assertEquals(3, CommandRun.onAFullDisk("inspect", "--redis", redis.uri(), name).status());
    assertEquals(
        3, CommandRun.onAFullDisk("inspect", "--redis", redis.uri(), "--watch", name).status());
  }

  @Test
  void whatIsWrongIsOneLine() {
    redis.server().command("SET", name, "text");
    CommandRun noLock = inspect(name);
    assertEquals(3, noLock.status());
    assertTrue(noLock.err().startsWith("mortise: lock '" + name), noLock::err);
    assertEquals(1, noLock.err().lines().count(), noLock::err);
    redis.server().command("DEL", name);

    CommandRun noServer = CommandRun.of("inspect", "--redis", "redis://:secret@127.0.0.1:1", "x");
    assertEquals(3, noServer.status());
    assertEquals(1, noServer.err().lines().count(), noServer::err);
    assertFalse(noServer.err().contains("secret"), noServer::err);

    assertEquals(2, inspect("--limit", "0").status());
    assertEquals(2, inspect("--interval", "1ms", "--watch").status());
    assertEquals(2, inspect("open{brace").status());
  }

  @Test
  void aClusterThatIsSearchedInPartIsSaid() throws Exception {
    try (RedisCluster cluster = RedisCluster.builder().masters(3).replicas(0).start()) {
      RedisServer asked = cluster.masters().get(0);
      for (RedisServer master : cluster.masters()) {
        master.command(
            "ACL", "SETUSER", "me", "reset", "on", ">pw", "+@all", "-cluster", "~*", "&*");
      }
      String address = "%s:%d".formatted(asked.host(), asked.port());

      CommandRun all = CommandRun.of("inspect", "--redis", "redis-cluster://" + address, "--json");
      CommandRun part =
          CommandRun.of("inspect", "--redis", "redis-cluster://me:pw@" + address, "--json");

      assertEquals(0, all.status(), all::err);
      assertEquals("", all.err());
      assertFalse(partial(all).asBoolean(true), all::out);
      assertEquals(4, part.status(), part::err);
      assertEquals(1, part.err().lines().count(), part::err);
      assertTrue(part.err().contains("only the nodes of the URI were searched"), part::err);
      assertFalse(part.err().contains("pw@"), part::err);
      assertTrue(partial(part).asBoolean(), part::out);
    }
  }

  private static JsonNode partial(CommandRun run) throws Exception {
    return new ObjectMapper().readTree(run.out()).at("/servers/0/partial");
  }

  @Test
  void watchingShowsWhatChangesUntilItIsInterrupted() throws Exception {
    RunningCommand command =
        RunningCommand.start(
            "inspect", "--redis", redis.uri(), "--watch", "--interval", "100ms", name);
    await().until(() -> command.out().contains(name + "  lock, free"));
    try (Lease held = new RedisLock(redis.client(), name).tryAcquire().orElseThrow()) {
      await().until(() -> command.out().contains("token " + held.fencingToken()));
    }

    assertEquals(0, command.interrupt());
    assertTrue(command.out().contains("\n\n"), "blocks");
    assertFalse(command.out().contains("\u001b"), "no terminal");
  }

  /** TERM, because a build in the background ignores INT, and its children do too. */
  @Test
  void aSignalEndsItWithoutAMessageAndShowsTheCursor() throws Exception {
    try (JavaProcess process =
        JavaProcess.builder(Main.class)
            .jvmOptions("-Dmortise.terminal.out=true")
            .arguments("inspect", "--redis", redis.uri(), "--watch", name)
            .start()) {
      await().atMost(PROCESS_START).until(() -> process.output().contains("free"));
      new ProcessBuilder("kill", "-TERM", Long.toString(process.pid())).start().waitFor();

      assertEquals(143, process.awaitExit(Duration.ofSeconds(20)), process::output);
      assertTrue(process.output().contains("\u001b[?25l"), process::output);
      assertTrue(process.output().contains("\u001b[?25h"), process::output);
      assertFalse(process.output().contains("Exception"), process::output);
    }
  }
}
