package io.mortise.core.internal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.core.internal.Tenure.Reserve;
import io.mortise.core.spi.InFlight;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.OwnedLease;
import io.mortise.core.spi.Terms;
import io.mortise.scripts.Script;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An attempt that is sent before anybody waits for its answer. */
@Timeout(60)
class AcquireAheadTest {
  private static final LockOptions OPTIONS =
      LockOptions.builder().commandTimeout(Duration.ofSeconds(20)).build();
  private static final String GRANTED = RespServer.integers(List.of(1L, 42L, 0L));
  private static final String BUSY = RespServer.integers(List.of(0L, 30_000L));

  /** By the SHA-1 of the script. */
  private final Map<String, String> answers = new ConcurrentHashMap<>();

  private final RespServer server =
      new RespServer(command -> answers.getOrDefault(command.get(1), RespServer.HANG_UP));
  private final Engine engine =
      new Engine(
          OPTIONS,
          workers -> Connector.servers(server.uri(), OPTIONS, workers),
          Thread::new,
          new Courtesy());
  private final RedisLock lock = new RedisLock(engine, "orders");
  private final EngineSource source = (EngineSource) LeaseSource.of(lock);
  private final Terms terms = Terms.of(OPTIONS, Duration.ZERO, null, true);

  @BeforeEach
  void connect() {
    answer("lock/release", RespServer.integers(List.of(1L, 0L)));
    answer("lock/acquire", GRANTED);
    assertTrue(lock.tryLock());
    lock.unlock();
    server.heard().clear();
  }

  @AfterEach
  void close() {
    engine.close();
    server.close();
  }

  private void answer(String script, String reply) {
    answers.put(sha1(script), reply);
  }

  private static String sha1(String script) {
    return new String(Script.load(script).sha1(), UTF_8);
  }

  private List<String> heard() {
    return server.heard().stream().map(command -> command.get(1)).toList();
  }

  private InFlight<Optional<OwnedLease>> ahead() {
    return source.acquireAhead(terms, null);
  }

  @Test
  void theAnswerIsTheLease() {
    InFlight<Optional<OwnedLease>> sent = ahead();

    assertTrue(sent.isSent());
    await().atMost(TestThread.LIVENESS).until(sent::hasArrived);
    OwnedLease lease = sent.await().orElseThrow();
    assertEquals(42, lease.fencingToken());
    lease.release();
  }

  @Test
  void ofALockThatIsHeldItIsEmptyAndTheLineIsOpenAgain() {
    answer("lock/acquire", BUSY);

    assertTrue(ahead().await().isEmpty());

    assertEquals(0, engine.status().contended());
  }

  @Test
  void nothingIsAskedWhenAThreadOfThisClientHoldsIt() {
    lock.lock();
    server.heard().clear();

    InFlight<Optional<OwnedLease>> known = ahead();

    assertTrue(known.hasArrived());
    assertTrue(known.await().isEmpty());
    assertEquals(List.of(), heard());
    lock.unlock();
  }

  @Test
  void whatTheOneBeforeLeftIsGivenBackByWhoeverWaits() {
    leave(new Tenure(engine.nextHolder(), engine.nanos(), 0, 30_000, 7, Reserve.NONE, -1));

    InFlight<Optional<OwnedLease>> unsent = ahead();

    assertFalse(unsent.isSent());
    assertEquals(List.of(), heard(), "who asks ahead waits for nothing");
    unsent.await().orElseThrow().release();
    assertEquals(
        List.of(sha1("lock/release"), sha1("lock/acquire"), sha1("lock/release")), heard());
  }

  /** Leaves a hold in the line, for the next who comes. */
  private void leave(Tenure hold) {
    Gate line = engine.gates().join(source.id());
    assertTrue(line.enterIfFree());
    line.put(hold);
    line.pass();
  }
}
