package io.mortise.it.contract;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Names;
import io.mortise.it.support.TestThreads;
import io.mortise.testkit.RedisServer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The plain lock as a user with exactly the documented rights, in a database other than 0, over
 * RESP3.
 */
@Tag("redis-version")
class MinimalRightsTest {
  private static final Duration WAIT = Duration.ofSeconds(10);

  /** The place of the value of "object" in an entry of ACL LOG. */
  private static final int OBJECT = 7;

  private static RedisServer server;

  @BeforeAll
  static void start() {
    server = RedisServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Test
  @Timeout(60)
  void theDocumentedRightsAreEnough() throws Exception {
    server.command("SCRIPT", "FLUSH");
    server.command("ACL", "LOG", "RESET");
    useAll(userWith(Rights.documented("it:")));
    assertEquals(List.of(), refusals());
  }

  /** PING is left out: it is sent when a subscriber connection was silent for some seconds. */
  static Stream<String> rights() throws IOException {
    return Rights.documented("it:").stream()
        .filter(right -> !right.equals("+ping") && !right.equals("resetchannels"));
  }

  @ParameterizedTest
  @MethodSource("rights")
  @Timeout(60)
  void eachDocumentedRightIsNeeded(String right) throws Exception {
    List<String> others = Rights.documented("it:");
    others.remove(right);
    server.command("SCRIPT", "FLUSH");
    server.command("ACL", "LOG", "RESET");
    try {
      useAll(userWith(others));
    } catch (LockException refused) {
      assertEquals(LockException.Reason.ACCESS_DENIED, refused.reason(), refused::getMessage);
    }
    String what = right.substring(1).replace("*", "");
    assertTrue(
        refusals().stream().anyMatch(refused -> refused.startsWith(what)), () -> "" + refusals());
  }

  @Test
  @Timeout(60)
  void withoutInfoAllWorksAllTheSame() throws Exception {
    List<String> others = Rights.documented("it:");
    assertTrue(others.remove("+info"));

    useAll(userWith(others));
  }

  /** What the server has refused: commands, keys, channels. */
  private static List<String> refusals() {
    return ((List<?>) server.command("ACL", "LOG"))
        .stream()
            .map(entry -> (String) ((List<?>) entry).get(OBJECT))
            // Jedis tells its name, and does not mind if it may not.
            .filter(object -> !object.startsWith("client"))
            .toList();
  }

  /** A user with these rights; the URI with which it connects. */
  private static String userWith(List<String> rules) {
    String user = "user-" + UUID.randomUUID();
    Stream<String> words =
        Stream.concat(
            Stream.of("ACL", "SETUSER", user, "reset", "resetchannels", "on", ">secret"),
            rules.stream());
    assertEquals("OK", server.command(words.toArray(String[]::new)));
    return "redis://%s:secret@%s:%d/3?protocol=3".formatted(user, server.host(), server.port());
  }

  /** All that a client may send: attempts, a wait, renewals, force, questions, releases. */
  private static void useAll(String uri) throws Exception {
    LockOptions options =
        LockOptions.builder()
            .lease(Duration.ofSeconds(1))
            .outageTimeout(Duration.ZERO)
            .subscriptionLinger(Duration.ZERO)
            .build();
    try (LockClient one = LockClient.create(uri, options);
        LockClient two = LockClient.create(uri, options);
        TestThreads crew = new TestThreads()) {
      DistributedLock lock = new RedisLock(one, Names.fresh());
      DistributedLock brief = new RedisLock(one, Names.fresh());
      Lease held = lock.tryAcquire().orElseThrow();
      Lease heldToo = brief.tryAcquire().orElseThrow();
      Future<Boolean> woken = crew.ask(() -> new RedisLock(two, lock.name()).tryLock(WAIT));
      await().until(() -> two.status().channels() == 1 || woken.isDone());
      assertFalse(new RedisLock(two, brief.name()).tryLock(Duration.ofMillis(50)));
      await().until(() -> two.status().channels() == 1 || woken.isDone()); // one is given up
      assertTrue(lock.isLocked());
      held.close();
      assertTrue(woken.get());
      assertTrue(brief.forceUnlock());
      assertThrows(LeaseLostException.class, heldToo::close);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof LockException refused ? refused : e;
    }
  }
}
