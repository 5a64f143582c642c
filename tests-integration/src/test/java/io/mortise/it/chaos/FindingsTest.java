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
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.HoldLog;
import io.mortise.testkit.HoldLog.Mode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Each violation is found when a test plants it. */
class FindingsTest {
  private static final TestedLock TESTED =
      new TestedLock(Family.PLAIN, ServerTopology.STANDALONE, ClientOptions.SHORT_TIMES);

  private static final Duration LONGER_THAN_A_HAND_OFF = Duration.ofMillis(30);

  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  @TempDir Path directory;
  private Map<Round, RoundNotes> notes = Map.of();
  private final Round safe = round(false);
  private final Round losingData = round(true);
  @AutoClose private final LockClient client = redis.client();
  private final DistributedLock lock = new RedisLock(client, safe.name());
  private final SectionEntry entry = new SectionEntry(lock, Mode.EXCLUSIVE, List.of(lock.name()));
  @AutoClose private HoldLog log;
  @AutoClose private HoldObserver observer;

  @BeforeEach
  void open() {
    redis.server().command("FLUSHALL");
    log = HoldLog.open(directory);
    observer = new HoldObserver(directory);
  }

  @Test
  void nothingIsFoundWhereNothingIsWrong() {
    for (int token = 1; token <= 3; token++) {
      holdAndRelease("h" + token, token);
    }
    Result result = judge(safe);
    assertEquals(List.of(), result.violations());
    assertEquals(3, result.cycles());
  }

  @Test
  void anOverlapIsAViolationUnlessDataWasLost() {
    overlap();
    lose("old");
    observer.released("new");
    assertViolation("overlap", judge(safe));
    Result result = judge(losingData);
    assertEquals(List.of(), result.violations());
    assertEquals(1, result.losersNotified());
    assertTrue(result.notifiedAfterMillis() >= 0);
  }

  @Test
  void aLoserThatWasNotNotifiedIsAViolation() throws Exception {
    HoldLog.Hold old = enter("old", 1);
    HoldLog.Hold next = enter("new", 2);
    PlannedTime.pass(LONGER_THAN_A_HAND_OFF);
    old.released();
    next.released();
    observer.released("old");
    lose("new");
    Result result = judge(losingData);
    assertEquals(1, result.losersNotNotified());
    assertViolation("not notified", result);
  }

  @Test
  void aLoserThatHandsOffAtTheBeginningOfAnOverlapNeedNotBeNotified() {
    overlap();
    observer.released("old");
    assertEquals(1, judge(losingData).losersUnsure());
    assertEquals(List.of(), judge(losingData).violations());
  }

  @Test
  void aThreadThatDoesNotGetInAfterTheFaultsIsAViolation() {
    notes = Map.of(safe, new RoundNotes(false, 0, List.of("the output of its process")));
    assertViolation("not everybody got in", judge(safe));
  }

  @Test
  void aLossThatIsReportedLateIsAViolationUnlessTheProcessStoodStill() {
    enter("h", 1);
    long endNanos = System.nanoTime() - Duration.ofSeconds(2).toNanos();
    observer.notified("h", new LeaseLoss(lock.name(), 1, Reason.EXPIRED, endNanos, "planted"));
    assertEquals(1, judge(safe).lateness().losses());
    assertTrue(judge(safe).lateness().maxMillis() >= 2_000);
    assertViolation("reported late", judge(safe));

    observer.paused(endNanos - 1_000_000, endNanos + 1_900_000_000);
    assertEquals(100, judge(safe).lateness().maxMillis(), 50);
    assertEquals(List.of(), judge(safe).violations());
  }

  @Test
  void aLoserThatDiedAndOneWhoseReleaseIsUncertainAreNoViolations() {
    overlap();
    assertEquals(1, judge(losingData).losersDead());
    observer.unconfirmed("old");
    assertEquals(1, judge(losingData).losersUnsure());
    assertEquals(List.of(), judge(losingData).violations());
  }

  @Test
  void tokensThatDecreaseAreAViolationEvenWhereDataIsLost() {
    holdAndRelease("h1", 9);
    holdAndRelease("h2", 8);
    assertEquals(1, judge(losingData).tokensOutOfOrder().size());
    assertViolation("tokens do not increase", judge(losingData));
  }

  @Test
  void aStaleWriteIsCountedByWhatWasWrittenNotByTheGuard() {
    try (WriteLog writeLog = new WriteLog(redis.uri())) {
      for (long token : new long[] {5, 7, 6, 7, 2}) {
        writeLog.write(lock.name(), token);
        writeLog.writeGuarded(lock.name(), token);
      }
    }
    assertEquals(new Tally(5, 2, 3, 0, 2), WriteLog.tally(redis.server(), lock.name()));
    assertEquals(5, WriteLog.attempts(redis.server(), lock.name()));

    redis.server().command("RPUSH", "guarded:{" + lock.name() + "}", "1"); // past the guard
    holdAndRelease("h", 9);
    assertViolation("1 stale writes passed the guard", judge(safe));
  }

  private void overlap() {
    HoldLog.Hold old = enter("old", 1);
    HoldLog.Hold next = enter("new", 2);
    old.released();
    next.released();
  }

  private void holdAndRelease(String holder, long token) {
    enter(holder, token).released();
    observer.released(holder);
  }

  private HoldLog.Hold enter(String holder, long token) {
    long before = System.nanoTime();
    observer.granted(holder, entry, token, before, System.nanoTime());
    return log.acquired(lock.name(), holder, token);
  }

  private void lose(String holder) {
    observer.notified(
        holder, new LeaseLoss(lock.name(), 1, Reason.MISSING, System.nanoTime(), "planted"));
  }

  private static void assertViolation(String text, Result result) {
    assertTrue(result.violations().get(0).contains(text), () -> "" + result.violations());
  }

  private Result judge(Round round) {
    return Findings.of(TESTED, List.of(round), directory, redis.server(), notes, List.of())
        .results()
        .get(0);
  }

  private static Round round(boolean mayOverlap) {
    return new Round("chaos:planted", "planted", mayOverlap, ThinkTime.QUICK, List.of());
  }
}
