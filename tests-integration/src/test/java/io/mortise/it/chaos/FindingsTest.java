package io.mortise.it.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.chaos.Findings.Result;
import io.mortise.it.chaos.WriteLog.Tally;
import io.mortise.testkit.HoldLog;
import io.mortise.testkit.HoldLog.Mode;
import io.mortise.testkit.RedisServer;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What must not be is found when it is planted. */
class FindingsTest {
  private static final TestedLock SUBJECT = new TestedLock(Family.PLAIN, Topology.STANDALONE);
  private static RedisServer server;
  private static LockClient client;

  @TempDir Path directory;
  private final Round safe = round(false);
  private final Round lossy = round(true);
  private final DistributedLock lock = new RedisLock(client, safe.name());
  private final SectionEntry side = new SectionEntry(lock, Mode.EXCLUSIVE, List.of(lock.name()));
  private HoldLog log;
  private HoldObserver witness;

  @BeforeAll
  static void start() {
    server = RedisServer.start();
    client = LockClient.create(server.uri());
  }

  @AfterAll
  static void stop() {
    client.close();
    server.close();
  }

  @BeforeEach
  void open() {
    server.command("FLUSHALL");
    log = HoldLog.open(directory);
    witness = new HoldObserver(directory);
  }

  @AfterEach
  void close() {
    witness.close();
    log.close();
  }

  @Test
  void nothingIsFoundWhereNothingIs() {
    for (int token = 1; token <= 3; token++) {
      HoldLog.Hold hold = enter("h" + token, token);
      hold.released();
      witness.released("h" + token);
    }
    Result result = judge(safe);
    assertEquals(List.of(), result.violations());
    assertEquals(3, result.cycles());
  }

  @Test
  void anOverlapIsAViolationUnlessDataWasLost() {
    overlap();
    loss("old");
    witness.released("new");
    assertTrue(judge(safe).violations().get(0).contains("overlap"));
    Result lost = judge(lossy);
    assertEquals(List.of(), lost.violations());
    assertEquals(1, lost.losersTold());
    assertTrue(lost.toldAfterMillis() >= 0);
  }

  @Test
  void aLoserWhoWasNotToldIsAViolation() {
    overlap();
    witness.released("old");
    loss("new");
    Result result = judge(lossy);
    assertEquals(1, result.losersUntold());
    assertTrue(result.violations().get(0).contains("not told"));
  }

  @Test
  void aLoserWhoDiedAndOneWhoseReleaseIsUncertainAreNoViolations() {
    overlap();
    assertEquals(1, judge(lossy).losersDead());
    witness.unconfirmed("old");
    assertEquals(1, judge(lossy).losersUnsure());
    assertEquals(List.of(), judge(lossy).violations());
  }

  @Test
  void tokensThatFallAreAViolationAlsoWhereDataIsLost() {
    enter("h1", 9).released();
    witness.released("h1");
    enter("h2", 8).released();
    witness.released("h2");
    assertEquals(1, judge(lossy).tokensOutOfOrder().size());
    assertTrue(judge(lossy).violations().get(0).contains("tokens do not rise"));
  }

  @Test
  void aStaleWriteIsCountedByWhatWasWrittenNotByTheGuard() {
    try (WriteLog ledger = new WriteLog(server.uri())) {
      for (long token : new long[] {5, 7, 6, 7, 2}) {
        ledger.write(lock.name(), token);
        ledger.writeGuarded(lock.name(), token);
      }
    }
    assertEquals(new Tally(5, 2, 3, 0, 2), WriteLog.tally(server, lock.name()));
    assertEquals(5, WriteLog.attempts(server, lock.name()));

    server.command("RPUSH", "guarded:{" + lock.name() + "}", "1"); // past the guard
    enter("h", 9).released();
    witness.released("h");
    assertTrue(judge(safe).violations().get(0).contains("1 stale writes passed the guard"));
  }

  private void overlap() {
    HoldLog.Hold old = enter("old", 1);
    HoldLog.Hold fresh = enter("new", 2);
    old.released();
    fresh.released();
  }

  private HoldLog.Hold enter(String holder, long token) {
    long before = System.nanoTime();
    witness.granted(holder, side, token, before, System.nanoTime());
    return log.acquired(lock.name(), holder, token);
  }

  private void loss(String holder) {
    witness.told(
        holder, new LeaseLoss(lock.name(), 1, Reason.MISSING, System.nanoTime(), "planted"));
  }

  private Result judge(Round round) {
    return Findings.of(SUBJECT, List.of(round), directory, server, Set.of(), List.of())
        .results()
        .get(0);
  }

  private static Round round(boolean mayOverlap) {
    return new Round("chaos:planted", "planted", mayOverlap, ThinkTime.QUICK, List.of());
  }
}
