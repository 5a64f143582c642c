package io.mortise.core.internal.lease;

import static io.mortise.connection.testing.BackgroundCall.LIVENESS;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.RespServer;
import io.mortise.core.Lease.State;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.core.composite.LeaseGroup;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.engine.TestClients;
import io.mortise.core.spi.LeaseBackedLock;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import io.mortise.scripts.Script;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What follows a wait for locks of two clients, one of whose servers is silent. */
@Timeout(10)
class GroupTimeoutTest {
  private static final LeaseTerms NO_WAIT =
      LeaseTerms.of(LockOptions.defaults(), Duration.ZERO, Duration.ofHours(1), true);
  private static final LeaseTerms WAIT = NO_WAIT.waiting(1_000_000_000L);

  /** The command timeout is longer than each test may take. */
  private static final LockOptions OPTIONS =
      LockOptions.builder().commandTimeout(Duration.ofSeconds(15)).build();

  /** Less than the least that each server has, by one millisecond for the rounding of timers. */
  private static final long LEAST_NANOS = 99_000_000L;

  /** By the SHA-1 of the script, at the first server. */
  private final Map<String, String> answers = new ConcurrentHashMap<>();

  private final Map<String, String> answersOfSecond = new ConcurrentHashMap<>();
  private final RespServer server = new RespServer(command -> answers.get(command.get(1)));
  private final RespServer second = new RespServer(command -> answersOfSecond.get(command.get(1)));
  private final RedisLockClient client = TestClients.of(server, OPTIONS);
  private final RedisLockClient clientOfSecond = TestClients.of(second, OPTIONS);
  private final List<OwnedLease> leases = new ArrayList<>();

  GroupTimeoutTest() throws InterruptedException {
    for (Map<String, String> each : List.of(answers, answersOfSecond)) {
      each.put(sha1("lock/acquire"), RespServer.integers(List.of(1L, 42L, 0L)));
      each.put(sha1("lock/release"), RespServer.integers(List.of(1L, 0L)));
      each.put(sha1("lock/raise"), ":1\r\n");
    }
    for (RedisLockClient each : List.of(client, clientOfSecond)) {
      leases.add(
          LeaseBackedLock.sourceOf(new RedisLock(each, "orders"))
              .acquire(NO_WAIT, null)
              .orElseThrow());
    }
  }

  private static String sha1(String script) {
    return new String(Script.load(script).sha1(), UTF_8);
  }

  @AfterEach
  void close() {
    server.close();
    second.close();
    client.close();
    clientOfSecond.close();
  }

  /** The rest of a wait that ends now; at the next server there is more time than that needs. */
  private static LongSupplier over() {
    AtomicInteger asked = new AtomicInteger();
    return () -> asked.getAndIncrement() == 0 ? 0 : Duration.ofSeconds(5).toNanos();
  }

  private static long longOver() {
    return -Duration.ofHours(1).toNanos();
  }

  private static long releases(RespServer at) {
    return at.heard().stream().filter(c -> c.get(1).equals(sha1("lock/release"))).count();
  }

  @Test
  void aSilentServerTakesTheTimeThatIsLeftAndTheNextIsAskedAllTheSame() {
    answers.put(sha1("lock/release"), RespServer.SILENCE);

    List<RuntimeException> failures = LeaseGroup.releaser(WAIT, over()).release(leases);

    assertEquals(1, failures.size());
    assertEquals(Reason.UNREACHABLE, ((LockException) failures.get(0)).reason());
    leases.forEach(lease -> assertEquals(State.RELEASED, lease.state()));
    assertEquals(0, clientOfSecond.status().contended());
    assertEquals(1, releases(second));
  }

  @Test
  void allServersAreWaitedForForAMomentWhenTheTimeIsUsedUp() {
    answers.put(sha1("lock/release"), RespServer.SILENCE);
    answersOfSecond.put(sha1("lock/release"), RespServer.SILENCE);
    long begun = System.nanoTime();

    assertEquals(2, LeaseGroup.releaser(WAIT, GroupTimeoutTest::longOver).release(leases).size());

    assertTrue(System.nanoTime() - begun >= LEAST_NANOS, "waited for less than a moment");
    await().atMost(LIVENESS).until(() -> releases(server) > 0 && releases(second) > 0);
  }

  @Test
  void aCallerThatDoesNotWaitHasItsAnswerFromEachServer() {
    assertEquals(
        List.of(), LeaseGroup.releaser(NO_WAIT, GroupTimeoutTest::longOver).release(leases));

    assertEquals(2, releases(server) + releases(second));
  }

  @Test
  void theTokensAreRaisedInTheTimeThatIsLeft() {
    answers.put(sha1("lock/raise"), RespServer.SILENCE);

    assertThrows(LockException.class, () -> LeaseGroup.raiseTokens(leases, 50, WAIT, over()));
  }
}
