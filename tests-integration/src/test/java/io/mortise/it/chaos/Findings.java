package io.mortise.it.chaos;

import io.mortise.it.chaos.HoldObserver.Grant;
import io.mortise.it.chaos.HoldObserver.Holder;
import io.mortise.it.chaos.HoldObserver.Observations;
import io.mortise.it.chaos.HoldObserver.Outcome;
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
 * The findings about one tested lock.
 *
 * @param left what its clients left behind
 */
record Findings(TestedLock tested, List<Result> results, List<String> left) {

  /**
   * The findings of one round.
   *
   * @param unplanned whether the sentinels replaced a master that no fault had struck: then data
   *     was lost, and two masters may have answered for a while
   * @param cycles how often a thread entered the section
   * @param overlaps pairs of holds that both holders believed in
   * @param losersNotified the overlaps whose loser was notified that it had lost the lock
   * @param losersDead those whose loser was killed, so that nobody was left to be notified
   * @param losersUnsure those whose loser learned that its release could not be confirmed
   * @param notifiedAfterMillis the longest time from the beginning of an overlap to that
   * @param disorders tokens that do not increase
   */
  record Result(
      Round round,
      boolean unplanned,
      long cycles,
      List<Overlap> overlaps,
      int losersNotified,
      int losersDead,
      int losersUnsure,
      long notifiedAfterMillis,
      List<Disorder> disorders,
      Tally writes) {
    private static final int MAX_REPORTED = 5;

    int losersNotNotified() {
      return overlaps.size() - losersNotified - losersDead - losersUnsure;
    }

    boolean mayOverlap() {
      return round.mayOverlap() || unplanned;
    }

    /**
     * Returns readers whose token is behind that of a writer that the new master does not know. A
     * reader has the token of the last writer that its server remembers, and a replica that lags
     * remembers an older one.
     */
    List<Disorder> readersBehind() {
      boolean promoted =
          unplanned || round.events().stream().anyMatch(it -> it.fault() == Fault.PROMOTED);
      return disorders.stream()
          .filter(each -> promoted && each.second().mode() == Mode.SHARED)
          .toList();
    }

    /** Returns all other tokens that do not increase. */
    List<Disorder> tokensOutOfOrder() {
      return disorders.stream().filter(each -> !readersBehind().contains(each)).toList();
    }

    /** Describes what no run may show. */
    List<String> violations() {
      List<String> found = new ArrayList<>();
      if (!mayOverlap()) {
        overlaps.stream().limit(MAX_REPORTED).forEach(each -> found.add("holds overlap: " + each));
      }
      if (losersNotNotified() > 0 && !unplanned) {
        found.add(losersNotNotified() + " losers were not notified; overlaps: " + overlaps);
      }
      if (writes.guardedStale() > 0) {
        found.add(writes.guardedStale() + " stale writes passed the guard");
      }
      tokensOutOfOrder().stream()
          .limit(MAX_REPORTED)
          .forEach(each -> found.add("tokens do not increase: " + each));
      return found.stream().map(each -> round.name() + ": " + each).toList();
    }
  }

  static Findings of(
      TestedLock tested,
      List<Round> rounds,
      Path directory,
      RedisServer guarded,
      Set<Round> unplanned,
      List<String> left) {
    List<HoldLog.Entry> holds = HoldLogs.holds(directory);
    Observations observations = HoldObserver.read(directory);
    List<Result> results = new ArrayList<>();
    for (Round round : rounds) {
      List<String> resources = tested.family().resources(round.name());
      results.add(
          result(
              round,
              unplanned.contains(round),
              holds.stream().filter(hold -> resources.contains(hold.lockName())).toList(),
              observations.grants().stream()
                  .filter(grant -> resources.contains(grant.resource()))
                  .toList(),
              observations,
              resources.stream()
                  .map(resource -> WriteLog.tally(guarded, resource))
                  .reduce(Tally.NONE, Tally::plus)));
    }
    return new Findings(tested, results, left);
  }

  private static Result result(
      Round round,
      boolean unplanned,
      List<HoldLog.Entry> holds,
      List<Grant> grants,
      Observations observations,
      Tally writes) {
    List<Overlap> overlaps = HoldChecker.check(holds).overlaps();
    int notified = 0;
    int dead = 0;
    int unsure = 0;
    long latestNanos = 0;
    for (Overlap overlap : overlaps) {
      Holder loser = holder(loser(overlap));
      Outcome outcome = observations.outcomes().get(loser);
      if (outcome == null) {
        dead++;
      } else if (outcome == Outcome.NOTIFIED) {
        notified++;
        long notifiedNanos = observations.notifiedNanos().get(loser);
        latestNanos = Math.max(latestNanos, notifiedNanos - overlap.second().acquiredNanos());
      } else if (outcome == Outcome.UNCONFIRMED) {
        unsure++;
      }
    }
    return new Result(
        round,
        unplanned,
        grants.stream().map(Grant::holder).distinct().count(),
        overlaps,
        notified,
        dead,
        unsure,
        latestNanos / 1_000_000,
        TokenOrder.check(grants),
        writes);
  }

  /**
   * Returns the hold with the older grant: it has the smaller token. A reader has the token of the
   * writer before it.
   */
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
