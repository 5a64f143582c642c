package io.mortise.it.chaos;

import io.mortise.it.chaos.HoldObserver.Fate;
import io.mortise.it.chaos.HoldObserver.Grant;
import io.mortise.it.chaos.HoldObserver.Holder;
import io.mortise.it.chaos.HoldObserver.Testimony;
import io.mortise.it.chaos.TokenOrder.Disorder;
import io.mortise.it.chaos.WriteLog.Tally;
import io.mortise.it.support.HoldLogs;
import io.mortise.testkit.HoldChecker;
import io.mortise.testkit.HoldChecker.Overlap;
import io.mortise.testkit.HoldLog;
import io.mortise.testkit.HoldLog.Mode;
import io.mortise.testkit.RedisServer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * What was found about a subject.
 *
 * @param left what stayed behind
 */
record Findings(TestedLock subject, List<Result> results, List<String> left) {

  /**
   * What was found in one round.
   *
   * @param unplanned whether the sentinels replaced a master that nothing had befallen: then data
   *     was lost, and two masters may have answered for a while
   * @param cycles how often the section was entered
   * @param overlaps holds that were both believed
   * @param losersTold of the overlaps, those whose loser was told that it has lost the lock
   * @param losersDead those whose loser died, so that there was nobody to be told
   * @param losersUnsure those whose loser was told that its release could not be confirmed
   * @param toldAfterMillis the longest time from the beginning of an overlap until that
   * @param disorders tokens that do not rise
   */
  record Result(
      Round round,
      boolean unplanned,
      long cycles,
      List<Overlap> overlaps,
      int losersTold,
      int losersDead,
      int losersUnsure,
      long toldAfterMillis,
      List<Disorder> disorders,
      Tally writes) {

    int losersUntold() {
      return overlaps.size() - losersTold - losersDead - losersUnsure;
    }

    boolean mayOverlap() {
      return round.mayOverlap() || unplanned;
    }

    /**
     * Readers whose token is behind that of a writer whom the new master does not know. A reader
     * has the token of the last writer that its server remembers, and a replica that lags remembers
     * an older one.
     */
    List<Disorder> readersBehind() {
      boolean promoted =
          unplanned || round.strikes().stream().anyMatch(it -> it.fault() == Fault.PROMOTED);
      return disorders.stream()
          .filter(each -> promoted && each.second().mode() == Mode.SHARED)
          .toList();
    }

    /** All other tokens that do not rise. */
    List<Disorder> tokensOutOfOrder() {
      return disorders.stream().filter(each -> !readersBehind().contains(each)).toList();
    }

    /** What must not be, in words. */
    List<String> violations() {
      List<String> found = new ArrayList<>();
      if (!mayOverlap()) {
        overlaps.stream().limit(5).forEach(each -> found.add("holds overlap: " + each));
      }
      if (losersUntold() > 0 && !unplanned) {
        found.add(losersUntold() + " of them were not told; overlaps: " + overlaps);
      }
      if (writes.guardedStale() > 0) {
        found.add(writes.guardedStale() + " stale writes passed the guard");
      }
      tokensOutOfOrder().stream()
          .limit(5)
          .forEach(each -> found.add("tokens do not rise: " + each));
      return found.stream().map(each -> round.name() + ": " + each).toList();
    }
  }

  static Findings of(
      TestedLock subject,
      List<Round> rounds,
      Path directory,
      RedisServer guarded,
      Set<Round> unplanned,
      List<String> left) {
    List<HoldLog.Entry> holds = HoldLogs.holds(directory);
    Testimony testimony = HoldObserver.read(directory);
    List<Result> results = new ArrayList<>();
    for (Round round : rounds) {
      List<String> resources = subject.family().resources(round.name());
      results.add(
          result(
              round,
              unplanned.contains(round),
              holds.stream().filter(hold -> resources.contains(hold.lockName())).toList(),
              testimony.grants().stream()
                  .filter(grant -> resources.contains(grant.resource()))
                  .toList(),
              testimony,
              resources.stream()
                  .map(resource -> WriteLog.tally(guarded, resource))
                  .reduce(Tally.NONE, Tally::plus)));
    }
    return new Findings(subject, results, left);
  }

  private static Result result(
      Round round,
      boolean unplanned,
      List<HoldLog.Entry> holds,
      List<Grant> grants,
      Testimony testimony,
      Tally writes) {
    List<Overlap> overlaps = HoldChecker.check(holds).overlaps();
    int told = 0;
    int dead = 0;
    int unsure = 0;
    long latestNanos = 0;
    for (Overlap overlap : overlaps) {
      Holder loser = holder(loser(overlap));
      Fate fate = testimony.fates().get(loser);
      if (fate == null) {
        dead++;
      } else if (fate == Fate.TOLD) {
        told++;
        long toldNanos = testimony.toldNanos().get(loser);
        latestNanos = Math.max(latestNanos, toldNanos - overlap.second().acquiredNanos());
      } else if (fate == Fate.UNCONFIRMED) {
        unsure++;
      }
    }
    return new Result(
        round,
        unplanned,
        grants.stream().map(Grant::holder).distinct().count(),
        overlaps,
        told,
        dead,
        unsure,
        latestNanos / 1_000_000,
        TokenOrder.check(grants),
        writes);
  }

  /** Whose grant is the older one: it has the smaller token; a reader has its last writer's. */
  private static HoldLog.Entry loser(Overlap overlap) {
    HoldLog.Entry first = overlap.first();
    HoldLog.Entry second = overlap.second();
    boolean secondIsOlder =
        second.fencingToken() < first.fencingToken()
            || (second.fencingToken() == first.fencingToken() && second.mode() == Mode.EXCLUSIVE);
    return secondIsOlder ? second : first;
  }

  private static Holder holder(HoldLog.Entry hold) {
    return new Holder(hold.processId(), hold.holder());
  }
}
