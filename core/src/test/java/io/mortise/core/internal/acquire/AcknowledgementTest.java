package io.mortise.core.internal.acquire;

import static io.mortise.connection.testing.RespServer.error;
import static io.mortise.connection.testing.RespServer.integers;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.core.Acknowledgement;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.scripts.Script;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An acquisition counts when it is acknowledged, and is undone when it is not. */
@Timeout(60)
class AcknowledgementTest {
  private static final String UNKNOWN = error("ERR unknown command 'WAITAOF', with args");
  private static final String ACQUIRE = sha1("lock/acquire");
  private static final String RELEASE = sha1("lock/release");

  private final Map<String, String> answers = new ConcurrentHashMap<>();
  private final RespServer server = new RespServer(this::answer);

  AcknowledgementTest() {
    answers.put(ACQUIRE, integers(List.of(1L, 42L, 0L)));
    answers.put(RELEASE, integers(List.of(1L, 0L)));
    answers.put(sha1("lock/renew"), integers(List.of(1L)));
  }

  private static String sha1(String script) {
    return new String(Script.load(script).sha1(), UTF_8);
  }

  private String answer(List<String> command) {
    String key = command.get(0).equals("EVALSHA") ? command.get(1) : command.get(0);
    return answers.getOrDefault(key, error("ERR not expected: " + command));
  }

  @AfterEach
  void close() {
    server.close();
  }

  private LockClient client(Acknowledgement acknowledgement) {
    return LockClient.create(
        server.uri(),
        LockOptions.builder()
            .commandTimeout(Duration.ofSeconds(20))
            .acknowledgement(acknowledgement)
            .build());
  }

  private List<String> heard() {
    return server.heard().stream()
        .map(
            command ->
                command.get(1).equals(ACQUIRE)
                    ? "acquire"
                    : command.get(1).equals(RELEASE) ? "release" : String.join(" ", command))
        .toList();
  }

  @Test
  void waitFollowsTheAttemptOnItsConnection() {
    answers.put("WAIT", ":2\r\n");
    try (LockClient client = client(Acknowledgement.ofReplicas(2).within(Duration.ofMillis(70)))) {
      assertTrue(new RedisLock(client, "orders").tryLock());
      assertEquals(List.of("WAIT 0 1", "acquire", "WAIT 2 70"), heard());
    }
  }

  @Test
  void anUnacknowledgedAcquisitionIsUndoneAndReported() {
    answers.put("WAIT", ":1\r\n");
    try (LockClient client = client(Acknowledgement.ofReplicas(2).within(Duration.ofMillis(70)))) {
      RedisLock lock = new RedisLock(client, "orders");

      LockException told = assertThrows(LockException.class, lock::tryLock);

      assertEquals(Reason.NOT_REPLICATED, told.reason());
      assertTrue(told.getMessage().startsWith("lock 'orders': 1 of 2 replicas"), told.getMessage());
      assertEquals(List.of("WAIT 0 1", "acquire", "WAIT 2 70", "release"), heard());
      assertFalse(lock.isHeldByCurrentThread());
      assertEquals(0, client.status().pendingReleases());
    }
  }

  /** As by a master that has lost the replicas which min-replicas-to-write asks for. */
  @Test
  void aRefusedUndoIsRepeatedInTheBackground() {
    answers.put("WAIT", ":1\r\n");
    answers.put(RELEASE, error("NOREPLICAS Not enough good replicas to write."));
    try (LockClient client = client(Acknowledgement.ofReplicas(2).within(Duration.ofMillis(70)))) {
      RedisLock lock = new RedisLock(client, "orders");

      LockException told = assertThrows(LockException.class, lock::tryLock);

      assertEquals(Reason.NOT_READY, told.reason());
      assertEquals(1, client.status().pendingReleases(), "the grant may have stayed");
      answers.put(RELEASE, integers(List.of(1L, 0L)));
      await().atMost(BackgroundCall.LIVENESS).until(() -> client.status().pendingReleases() == 0);
    }
  }

  /** The next attempt, under the same holder id, meets the new master, or finds the grant. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "UNBLOCKED force unblock from blocking operation, instance state changed (master ->"
            + " replica?)",
        "ERR WAIT cannot be used with replica instances. Please also note that writes to replicas"
            + " are just local and are not propagated."
      })
  void aWaitGoesOnAfterADemotion(String refusal) {
    AtomicInteger waits = new AtomicInteger();
    try (RespServer demoted =
            new RespServer(
                command ->
                    !command.get(0).equals("WAIT")
                        ? answer(command)
                        : waits.incrementAndGet() == 2 ? error(refusal) : ":1\r\n");
        LockClient client =
            LockClient.create(
                demoted.uri(),
                LockOptions.builder().acknowledgement(Acknowledgement.ofReplicas(1)).build())) {
      new RedisLock(client, "orders").lock();

      assertEquals(2, holdersOf(demoted, ACQUIRE).size());
      assertEquals(1, Set.copyOf(holdersOf(demoted, ACQUIRE)).size());
    }
  }

  @Test
  void aReplicaAtTheStartIsReportedAtTheFirstUse() {
    answers.put(
        "WAITAOF",
        error(
            "ERR WAITAOF cannot be used with replica instances. Please also note that writes to"
                + " replicas are just local and are not propagated."));
    answers.put(ACQUIRE, error("READONLY You can't write against a read only replica."));
    try (LockClient client = client(Acknowledgement.ofReplicas(0).onDisks())) {
      RedisLock lock = new RedisLock(client, "orders");

      assertEquals(Reason.READ_ONLY, assertThrows(LockException.class, lock::tryLock).reason());
    }
  }

  /** The keys are moving to another node: no fault of the configuration. */
  @Test
  void anUndoThatIsRedirectedIsRepeatedToo() {
    answers.put("WAIT", ":1\r\n");
    answers.put(RELEASE, error("MOVED 42 127.0.0.1:1"));
    try (LockClient client = client(Acknowledgement.ofReplicas(2).within(Duration.ofMillis(70)))) {
      LockException told =
          assertThrows(LockException.class, () -> new RedisLock(client, "orders").tryLock());

      assertEquals(Reason.NOT_READY, told.reason());
      assertEquals(1, client.status().pendingReleases());
      answers.put(RELEASE, integers(List.of(1L, 0L)));
    }
  }

  /** It may be under way, and hit the next attempt of the same holder. */
  @ParameterizedTest
  @ValueSource(strings = {RespServer.HANG_UP, RespServer.SILENCE})
  void afterAnUndoWithoutAnAnswerTheWaitGoesOnUnderANewHolderId(String instead) {
    AtomicInteger waits = new AtomicInteger();
    AtomicInteger releases = new AtomicInteger();
    try (RespServer lossy =
            new RespServer(
                command ->
                    command.get(0).equals("WAIT")
                        ? ":" + (waits.incrementAndGet() > 2 ? 1 : 0) + "\r\n" // one to probe
                        : command.get(1).equals(RELEASE) && releases.incrementAndGet() == 1
                            ? instead
                            : answer(command));
        LockClient client =
            LockClient.create(
                lossy.uri(),
                LockOptions.builder()
                    .commandTimeout(Duration.ofSeconds(2))
                    .acknowledgement(Acknowledgement.ofReplicas(1))
                    .build())) {
      RedisLock lock = new RedisLock(client, "orders");
      lock.lock();

      List<String> holders = holdersOf(lossy, ACQUIRE);
      assertEquals(2, holders.size());
      assertNotEquals(holders.get(0), holders.get(1));
      await().atMost(BackgroundCall.LIVENESS).until(() -> client.status().pendingReleases() == 0);
      assertTrue(lock.isHeldByCurrentThread());
      assertEquals(
          Set.of(holders.get(0)), Set.copyOf(holdersOf(lossy, RELEASE)), "what has no answer");
      assertTrue(releases.get() > 1, "repeated in the background");
    }
  }

  private static List<String> holdersOf(RespServer server, String script) {
    return server.heard().stream()
        .filter(command -> command.get(1).equals(script))
        .map(command -> command.get(3 + Integer.parseInt(command.get(2))))
        .toList();
  }

  @Test
  void aTryWithoutAWaitSaysThatTheUndoHasNoAnswer() {
    answers.put("WAIT", ":0\r\n");
    answers.put(RELEASE, RespServer.HANG_UP);
    try (LockClient client = client(Acknowledgement.ofReplicas(1))) {
      RedisLock lock = new RedisLock(client, "orders");

      LockException told = assertThrows(LockException.class, lock::tryLock);

      assertEquals(Reason.NOT_REPLICATED, told.reason());
      assertTrue(told.getMessage().contains("0 of 1 replicas"), told.getMessage());
      assertTrue(told.getMessage().contains("has no answer"), told.getMessage());
      assertEquals(1, client.status().pendingReleases(), "the grant may have stayed");
      assertEquals(1, holdersOf(server, ACQUIRE).size(), "not repeated on another connection");
      answers.put(RELEASE, integers(List.of(1L, 0L)));
    }
  }

  @Test
  void aWaitGoesOnUntilItIsAcknowledged() {
    AtomicInteger waits = new AtomicInteger();
    answers.put("WAIT", ":0\r\n");
    try (RespServer late =
            new RespServer(
                command ->
                    command.get(0).equals("WAIT")
                        ? ":" + (waits.incrementAndGet() > 3 ? 1 : 0) + "\r\n"
                        : answer(command));
        LockClient client =
            LockClient.create(
                late.uri(),
                LockOptions.builder().acknowledgement(Acknowledgement.ofReplicas(1)).build())) {
      new RedisLock(client, "orders").lock();
      assertEquals(4, waits.get());
    }
  }

  @Test
  void anAttemptThatIsNotGrantedWaitsForNoReplica() {
    answers.put("WAIT", ":0\r\n");
    answers.put(ACQUIRE, integers(List.of(0L, 5_000L)));
    try (LockClient client = client(Acknowledgement.ofReplicas(1))) {
      assertFalse(new RedisLock(client, "orders").tryLock());
      assertEquals(List.of("WAIT 0 1", "acquire"), heard());
    }
  }

  @Test
  void onDisksTheFileOfTheMasterCountsToo() {
    answers.put("WAITAOF", integers(List.of(1L, 1L)));
    try (LockClient client = client(Acknowledgement.ofReplicas(1).onDisks())) {
      assertTrue(new RedisLock(client, "orders").tryLock());
      assertEquals(List.of("WAITAOF 1 0 1", "acquire", "WAITAOF 1 1 500"), heard());
      answers.put("WAITAOF", integers(List.of(0L, 1L)));
      RedisLock other = new RedisLock(client, "others");
      assertEquals(
          Reason.NOT_REPLICATED, assertThrows(LockException.class, other::tryLock).reason());
    }
  }

  @Test
  void aServerWithoutTheCommandIsReportedAtTheStart() {
    answers.put("WAITAOF", UNKNOWN);
    LockException told =
        assertThrows(
            LockException.class, () -> client(Acknowledgement.ofReplicas(1).onDisks()).close());

    assertEquals(Reason.NOT_SUPPORTED, told.reason());
    assertTrue(told.getMessage().contains("LockOptions.acknowledgement"), told.getMessage());
    assertTrue(told.getMessage().contains("unknown command 'WAITAOF'"), told.getMessage());
  }

  @Test
  void aServerThatIsUnreachableAtTheStartIsReportedAtTheFirstUse() {
    answers.put("WAITAOF", error("LOADING Redis is loading the dataset in memory"));
    try (LockClient client = client(Acknowledgement.ofReplicas(0).onDisks())) {
      answers.put("WAITAOF", UNKNOWN);
      RedisLock lock = new RedisLock(client, "orders");
      LockException told = assertThrows(LockException.class, lock::lock);
      assertEquals(Reason.NOT_SUPPORTED, told.reason());
      assertEquals("release", heard().get(heard().size() - 1));
    }
  }
}
