package io.mortise.cli;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.segmentedlock.SegmentLease;
import io.mortise.segmentedlock.SegmentedLock;
import io.mortise.testkit.FaultProxy;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.RedisClient;

@Timeout(60)
class ForceCommandTest {
  @RegisterExtension static final RedisAndClient redis = new RedisAndClient();

  private final String name = "it:" + UUID.randomUUID();

  private CommandRun force(String... options) {
    String[] all = new String[options.length + 4];
    System.arraycopy(new String[] {"force", "--redis", redis.uri(), name}, 0, all, 0, 4);
    System.arraycopy(options, 0, all, 4, options.length);
    return CommandRun.of(all);
  }

  /** Somebody at a terminal answers; {@code before} runs when the question has been asked. */
  private CommandRun asked(String answer, Runnable before) {
    InputStream in = System.in;
    System.setIn(
        new ByteArrayInputStream((answer + "\n").getBytes(StandardCharsets.UTF_8)) {
          @Override
          public synchronized int read(byte[] bytes, int from, int length) {
            before.run();
            return super.read(bytes, from, length);
          }
        });
    try {
      return CommandRun.of(
          new CommandLine(new ForceCommand(() -> true)), "--redis", redis.uri(), name);
    } finally {
      System.setIn(in);
    }
  }

  private void assertTaken(Lease held) {
    assertEquals(0L, redis.server().command("EXISTS", name));
    LeaseLostException lost = assertThrows(LeaseLostException.class, held::close);
    assertTrue(lost.getMessage().contains("by force"), lost::getMessage);
  }

  @Test
  void aHolderIsShownAndLosesTheLock() {
    Lease held = new RedisLock(redis.client(), name).tryAcquire().orElseThrow();

    CommandRun run = force("--yes");

    assertEquals(0, run.status(), run::err);
    assertTrue(run.out().contains("  holds"), run::out);
    assertTrue(run.out().contains("taken: '" + name + "'"), run::out);
    assertTrue(run.out().contains(redis.client().id()), run::out);
    assertTaken(held);
  }

  @Test
  void whenTheOutputIsLostTheStatusStillSaysWhatWasDone() throws Exception {
    Lease held = new RedisLock(redis.client(), name).tryAcquire().orElseThrow();
    String[] arguments = {"force", "--yes", "--redis", redis.uri(), name};

    CommandRun taken = CommandRun.onAFullDisk(arguments);
    CommandRun free = CommandRun.onAFullDisk(arguments);

    assertEquals(0, taken.status(), taken::err);
    assertEquals(1, free.status(), free::err);
    for (CommandRun run : List.of(taken, free)) {
      assertTrue(run.err().contains("standard output cannot be written"), run::err);
      assertEquals(1, run.err().lines().count(), run::err);
    }
    assertTaken(held);
  }

  @Test
  void theNextInTheQueueOfAFairLockIsWokenAtOnce() throws Exception {
    RedisFairLock lock = new RedisFairLock(redis.client(), name);
    Lease held = lock.tryAcquire().orElseThrow();
    try (LockClient other = LockClient.create(redis.uri())) {
      var next = new RedisFairLock(other, name).acquireAsync(Duration.ofSeconds(25));
      await().until(() -> lock.queueLength() == 1);

      CommandRun run = force("-y");

      assertEquals(0, run.status(), run::err);
      assertTrue(run.out().contains("  waits 1"), run::out);
      // far earlier than the lease of the holder ends, which is 30 s
      next.toCompletableFuture().get(5, TimeUnit.SECONDS).orElseThrow().close();
    }
    assertTaken(held);
  }

  @Test
  void aNameThatIsTooLongForASegmentIsTakenAsAPlainLock() throws Exception {
    String longest = "{" + name + "}" + "x".repeat(1_024 - name.length() - 4) + ":1";
    try (LockClient client = LockClient.create(redis.uri())) {
      Lease taken = new RedisLock(client, longest).tryAcquire().orElseThrow();

      CommandRun run = CommandRun.of("force", "--yes", "--redis", redis.uri(), longest);

      assertEquals(0, run.status(), run::err);
      assertThrows(LeaseLostException.class, taken::close);
      assertTrue(new RedisLock(client, longest).tryLock());
    }
  }

  /** Without a message their heartbeats would find the free segment, after 2.5 s. */
  @ParameterizedTest
  @ValueSource(strings = {"", "a:"})
  void thoseThatWaitForAnySegmentAreNotified(String namespace) throws Exception {
    String tagged = "{" + name + "}";
    LockOptions options = LockOptions.builder().namespace(namespace).build();
    CompletableFuture<String> heard = new CompletableFuture<>();
    CountDownLatch listening = new CountDownLatch(1);
    JedisPubSub listener =
        new JedisPubSub() {
          @Override
          public void onPSubscribe(String pattern, int channels) {
            listening.countDown();
          }

          @Override
          public void onPMessage(String pattern, String channel, String message) {
            heard.complete(message);
          }
        };
    try (LockClient client = LockClient.create(redis.uri(), options);
        RedisClient jedis = RedisClient.create(redis.uri())) {
      SegmentedLock stock = new SegmentedLock(client, tagged, 2);
      Lease taken = stock.segment(1).tryAcquire().orElseThrow();
      Lease other = stock.segment(0).tryAcquire().orElseThrow();
      var next = stock.acquireAnyAsync(Duration.ofSeconds(25)).toCompletableFuture();
      await().until(() -> stock.queueLength() == 1);
      String channels = "mortise_segment_channel:" + namespace + tagged + ":*";
      Thread listens = new Thread(() -> jedis.psubscribe(listener, channels), "listener");
      listens.start();
      assertTrue(listening.await(20, TimeUnit.SECONDS));

      CommandRun run =
          CommandRun.of(
              "force", "--yes", "--redis", redis.uri(), "--namespace", namespace, tagged + ":1");

      assertEquals(0, run.status(), run::err);
      assertEquals("0", heard.get(20, TimeUnit.SECONDS));
      listener.punsubscribe();
      listens.join();
      try (SegmentLease segment = next.get(20, TimeUnit.SECONDS).orElseThrow()) {
        assertEquals(1, segment.index());
      }
      assertThrows(LeaseLostException.class, taken::close);
      other.close();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {":7", ":07", ":256", ":7x"})
  void aLockWhoseNameOnlyLooksLikeASegmentIsTaken(String end) {
    String lock = "{" + name + "}" + end;
    Lease held = new RedisLock(redis.client(), lock).tryAcquire().orElseThrow();

    assertEquals(0, CommandRun.of("force", "-y", "--redis", redis.uri(), lock).status());

    assertThrows(LeaseLostException.class, held::close);
  }

  @Test
  void aWriterWithAReadHoldAndReadersLoseAll() {
    DistributedLock write = new RedisReadWriteLock(redis.client(), name).writeLock();
    DistributedLock read = new RedisReadWriteLock(redis.client(), name).readLock();
    write.lock();
    read.lock();

    assertEquals(0, force("--yes").status());
    assertEquals(0L, redis.server().command("EXISTS", name));
    assertThrows(LeaseLostException.class, read::unlock);
    assertThrows(LeaseLostException.class, write::unlock);

    Lease reader =
        new RedisReadWriteLock(redis.client(), name).readLock().tryAcquire().orElseThrow();
    assertEquals(0, force("--yes").status());
    assertTaken(reader);
  }

  /** The replies to the command are late, so a reader is inside before the next script is sent. */
  @Test
  void aReaderThatTheEndOfTheWriteHoldLetsInKeepsTheLock() throws Exception {
    RedisReadWriteLock lock = new RedisReadWriteLock(redis.client(), name);
    lock.writeLock().lock();
    lock.readLock().lock();
    try (LockClient other = LockClient.create(redis.uri());
        FaultProxy proxy = FaultProxy.to(redis.server())) {
      var next =
          new RedisReadWriteLock(other, name).readLock().acquireAsync(Duration.ofSeconds(25));
      await()
          .until(
              () -> redis.server().command("EXISTS", "mortise_read_waiters:{" + name + "}"),
              found -> found.equals(1L));
      proxy.delay(Duration.ofMillis(150));

      CommandRun run = CommandRun.of("force", "--yes", "--redis", proxy.uri(), name);

      assertEquals(0, run.status(), run::err);
      Lease reader = next.toCompletableFuture().get(5, TimeUnit.SECONDS).orElseThrow();
      reader.close(); // throws if it was taken from the reader
    }
    assertThrows(LeaseLostException.class, lock.readLock()::unlock);
    assertThrows(LeaseLostException.class, lock.writeLock()::unlock);
  }

  @Test
  void withoutATerminalAndWithoutYesNothingIsDone() {
    try (Lease held = new RedisLock(redis.client(), name).tryAcquire().orElseThrow()) {
      CommandRun run = force();

      assertEquals(2, run.status());
      assertTrue(run.err().contains("--yes"), run::err);
      assertEquals(1, run.err().lines().count(), run::err);
      assertTrue(held.isValid());
      assertEquals(1L, redis.server().command("EXISTS", name));
    }
  }

  @Test
  void aHashThatIsNoLockIsNotDeleted() {
    redis.server().command("HSET", name, "name", "Ada");

    CommandRun run = force("--yes");

    assertEquals(3, run.status());
    assertTrue(run.err().contains("the field 'name'"), run::err);
    assertEquals(1L, redis.server().command("EXISTS", name));
  }

  @Test
  void aHashWithoutExpiryMayBeNoLockAndIsNotDeleted() {
    redis.server().command("HSET", name, "9f8e7d6c-0000-4000-8000-000000000002:77", "5");

    CommandRun run = force("--yes");

    assertEquals(3, run.status(), run::out);
    assertTrue(run.err().contains("has no expiry"), run::err);
    assertEquals(1L, redis.server().command("EXISTS", name));
  }

  /** Sessions of users, say: an application too has UUIDs of version 4, numbers and a TTL. */
  @ParameterizedTest
  @ValueSource(strings = {"Ada", "0", "-1", "1.5", "1234567890123", ""})
  void aHashWhoseValueIsNoHoldCountIsNotDeleted(String value) {
    redis.server().command("HSET", name, "9f8e7d6c-0000-4000-8000-000000000002:77", value);
    redis.server().command("PEXPIRE", name, "60000");

    CommandRun run = force("--yes");

    assertEquals(3, run.status(), run::out);
    assertTrue(run.err().contains("no holder with a hold count"), run::err);
    assertEquals(1L, redis.server().command("EXISTS", name));
  }

  @Test
  void aHashOfSeveralHoldersWithoutAModeIsNotDeleted() {
    redis
        .server()
        .command(
            "HSET",
            name,
            "9f8e7d6c-0000-4000-8000-000000000002:77",
            "1",
            "9f8e7d6c-0000-4000-8000-000000000002:78",
            "1");
    redis.server().command("PEXPIRE", name, "60000");

    CommandRun run = force("--yes");

    assertEquals(3, run.status(), run::out);
    assertTrue(run.err().contains("several fields like holders"), run::err);
    assertEquals(1L, redis.server().command("EXISTS", name));
  }

  /** The rights of docs/wire.md for a plain lock and for its inspection. */
  @Test
  void forAPlainLockTheRightsOfAPlainLockAreEnough() {
    String rights =
        "resetchannels &redisson_lock__channel:* +eval +evalsha +subscribe +unsubscribe +ping"
            + " +select +info +hlen +hexists +hset +hkeys +pexpire +pttl +del +get +set +time"
            + " +publish +zadd +zrange +zrem +zscore +zcount +zremrangebyscore ~it:*"
            + " ~redisson_lock_token:* ~mortise_forced:* ~mortise_waiters:* ~redisson_lock__channel:*"
            + " +hgetall ~mortise_client:*";
    List<String> words = new ArrayList<>(List.of("ACL", "SETUSER", "plain", "reset", "on", ">pw"));
    words.addAll(List.of(rights.split(" ")));
    assertEquals("OK", redis.server().command(words.toArray(String[]::new)));
    Lease held = new RedisLock(redis.client(), name).tryAcquire().orElseThrow();

    CommandRun run =
        CommandRun.of(
            "force",
            "--yes",
            "--redis",
            "redis://plain:pw@%s:%d".formatted(redis.server().host(), redis.server().port()),
            name);

    assertEquals(0, run.status(), run::err);
    assertTaken(held);
  }

  @Test
  void aServerThatCannotBeUsedDoesNotKeepTheOthers() {
    Lease held = new RedisLock(redis.client(), name).tryAcquire().orElseThrow();

    CommandRun run = force("--yes", "--redis", "redis://127.0.0.1:1");

    assertEquals(4, run.status(), run::err);
    assertTrue(run.err().contains("mortise: redis://127.0.0.1:1: "), run::err);
    assertTrue(run.out().contains("taken: '" + name + "'"), run::out);
    assertTaken(held);
    assertEquals(3, force("--yes", "--redis", "redis://127.0.0.1:1").status());
  }

  @Test
  void aLockThatIsNotHeldIsStatusOne() {
    CommandRun run = force("--yes");

    assertEquals(1, run.status());
    assertTrue(run.out().contains("is not held"), run::out);
    assertFalse(run.out().contains("pattern"), run::out);
  }

  @Test
  void aPatternIsTakenForANameAndTheAnswerSaysSo() {
    Lease held = new RedisLock(redis.client(), name).tryAcquire().orElseThrow();

    CommandRun run = CommandRun.of("force", "--yes", "--redis", redis.uri(), name + "*");

    assertEquals(1, run.status());
    assertTrue(run.out().contains("it was taken for a name, not a pattern"), run::out);
    held.close();
  }

  @Test
  void theAnswerNamesTheLockWithItsNamespace() {
    CommandRun run = force("--yes", "--namespace", "billing:");

    assertEquals(
        "the lock 'billing:" + name + "' is not held; nothing was done", run.out().strip());
  }

  @ParameterizedTest
  @ValueSource(strings = {"n", "", "yesterday"})
  void anyAnswerButYesLeavesTheLock(String answer) {
    try (Lease held = new RedisLock(redis.client(), name).tryAcquire().orElseThrow()) {
      CommandRun run = asked(answer, () -> {});

      assertEquals(1, run.status(), run::err);
      assertTrue(run.out().contains("nothing was done"), run::out);
      assertTrue(held.isValid());
      assertEquals(1L, redis.server().command("EXISTS", name));
    }
  }

  @Test
  void yesTakesIt() {
    Lease held = new RedisLock(redis.client(), name).tryAcquire().orElseThrow();

    assertEquals(0, asked("y", () -> {}).status());
    assertTaken(held);
  }

  @Test
  void aHolderThatWasNotShownKeepsTheLock() throws IOException {
    RedisLock lock = new RedisLock(redis.client(), name);
    Lease[] holds = {lock.tryAcquire().orElseThrow(), null};

    CommandRun run =
        asked(
            "y",
            () -> {
              if (holds[1] == null) {
                holds[0].close();
                holds[1] = lock.tryAcquire().orElseThrow();
              }
            });

    assertEquals(1, run.status(), run::out);
    assertTrue(run.out().contains("has changed"), run::out);
    assertFalse(run.out().contains("taken"), run::out);
    assertEquals(1L, redis.server().command("EXISTS", name));
    holds[1].close();
  }
}
