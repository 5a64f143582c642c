package io.mortise.it.chaos;

import io.mortise.core.LockOptions;
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
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The findings about one tested lock.
 *
 * @param errors how often a step of a thread had no room in the heap
 * @param left what its clients left behind
 */
record Findings(TestedLock tested, List<Result> results, long errors, List<String> left) {

  /**
   * The findings of one round.
   *
   * @param cycles how often a thread entered the section
   * @param overlaps pairs of holds that both holders believed in
   * @param losersNotified the overlaps whose loser was notified that it had lost the lock
   * @param losersDead those whose loser was killed, so that nobody was left to be notified
   * @param losersUnsure those whose loser learned that its release could not be confirmed, or did
   *     not have to be notified
   * @param notifiedAfterMillis the longest time from the beginning of an overlap to that
   * @param disorders tokens that do not increase
   */
  record Result(
      Round round,
      RoundNotes notes,
      long cycles,
      List<Overlap> overlaps,
      int losersNotified,
      int losersDead,
      int losersUnsure,
      long notifiedAfterMillis,
      List<Disorder> disorders,
      Lateness lateness,
      Tally writes) {
    private static final int MAX_REPORTED = 5;

    /** Of a loss that is reported late, when the threads of the process ran all the time. */
    private static final long MAX_LATE_MILLIS = 1_000;

    int losersNotNotified() {
      return overlaps.size() - losersNotified - losersDead - losersUnsure;
    }

    boolean mayOverlap() {
      return round.mayOverlap() || notes.unplanned();
    }

    /**
     * Returns readers whose token is behind that of a writer that the new master does not know. A
     * reader has the token of the last writer that its server remembers, and a replica that lags
     * remembers an older one.
     */
    List<Disorder> readersBehind() {
      boolean promoted =
          notes.unplanned() || round.events().stream().anyMatch(it -> it.fault() == Fault.PROMOTED);
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
      if (losersNotNotified() > 0 && !notes.unplanned()) {
        found.add(losersNotNotified() + " losers were not notified; overlaps: " + overlaps);
      }
      notes.stuck().forEach(output -> found.add("not everybody got in afterwards: " + output));
      if (lateness.maxMillis() > MAX_LATE_MILLIS) {
        found.add("losses were reported late: " + lateness);
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

  /** Describes what no run may show. */
  List<String> violations() {
    return Stream.concat(
            results.stream().flatMap(result -> result.violations().stream()),
            left.stream().map(thing -> tested + " left behind: " + thing))
        .toList();
  }

  static Findings of(
      TestedLock tested,
      List<Round> rounds,
      Path directory,
      RedisServer guarded,
      Map<Round, RoundNotes> notes,
      List<String> left) {
    List<HoldLog.Entry> holds = HoldLogs.holds(directory);
    Observations observations = HoldObserver.read(directory);
    List<Result> results = new ArrayList<>();
    for (Round round : rounds) {
      List<String> resources = tested.family().resources(round.name());
      results.add(
          result(
              round,
              notes.getOrDefault(round, RoundNotes.NONE),
              holds.stream().filter(hold -> resources.contains(hold.lockName())).toList(),
              observations.grants().stream()
                  .filter(grant -> resources.contains(grant.resource()))
                  .toList(),
              observations,
              resources.stream()
                  .map(resource -> WriteLog.tally(guarded, resource))
                  .reduce(Tally.NONE, Tally::plus)));
    }
    long errors = observations.errors().values().stream().mapToLong(Integer::longValue).sum();
    return new Findings(tested, results, errors, left);
  }

  private static Result result(
      Round round,
      RoundNotes notes,
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
        long notifiedNanos = observations.losses().get(loser).notifiedNanos();
        latestNanos = Math.max(latestNanos, notifiedNanos - overlap.second().acquiredNanos());
      } else if (outcome == Outcome.UNCONFIRMED || isExcused(overlap, observations)) {
        unsure++;
      }
    }
    Set<Holder> holders = grants.stream().map(Grant::holder).collect(Collectors.toSet());
    return new Result(
        round,
        notes,
        holders.size(),
        overlaps,
        notified,
        dead,
        unsure,
        latestNanos / 1_000_000,
        TokenOrder.check(grants),
        Lateness.of(holders, observations),
        writes);
  }

  /**
   * Returns whether the loser may have released without learning of the loss (docs/guarantees.md):
   * its hold was verified within the hand-off time, so that the overlap had not begun; or it uses a
   * Jedis client of the caller's, which hides that a server has restarted.
   */
  private static boolean isExcused(Overlap overlap, Observations observations) {
    HoldLog.Entry loser = loser(overlap);
    long maxNanos = LockOptions.defaults().tuning().maxHandOffTime().toNanos();
    return (loser.endNanos().isPresent()
            && loser.endNanos().getAsLong() - overlap.second().acquiredNanos() <= maxNanos)
        || observations.onCallersJedis().contains(loser.processId());
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
