package io.mortise.testkit;

import io.mortise.testkit.HoldLog.Entry;
import io.mortise.testkit.HoldLog.Mode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Judges a {@linkplain HoldLog log of holds}: whether a lock had two holders that exclude each
 * other at the same time, and whether the fencing tokens rose from holder to holder.
 *
 * <p>Two holds of one name overlap if one was acquired before the last evidence of the other, and
 * they are not both shared. A hold without an end has only one moment of evidence, its acquisition:
 * what a dead holder may have gone on holding is unknown and is never counted. Holds of one {@link
 * Entry#holder() holder} in one process do not exclude each other.
 *
 * <p>Of the exclusive holds of a name, in the order of their acquisition, each must have a larger
 * token than all before it; a shared hold must have at least that of the last exclusive hold. A
 * holder that was suspended between the grant and its record can therefore show as a token out of
 * order: it did enter late with an old token.
 *
 * <p><b>Threads.</b> Stateless; any thread may call it. The reports are immutable.
 */
public final class HoldChecker {

  /** Two holds that must not have been held together; {@code second} was acquired later. */
  public record Overlap(Entry first, Entry second) {
    /** Refuses null. */
    public Overlap {
      Objects.requireNonNull(first, "first");
      Objects.requireNonNull(second, "second");
    }
  }

  /** Two holds of which the one that was acquired later does not have the larger token. */
  public record TokenDisorder(Entry earlier, Entry later) {
    /** Refuses null. */
    public TokenDisorder {
      Objects.requireNonNull(earlier, "earlier");
      Objects.requireNonNull(later, "later");
    }
  }

  /**
   * The findings.
   *
   * @param holds how many holds were recorded
   * @param unfinished how many of them have no end
   * @param holdsByProcess how many holds each process had, by process id
   * @param mostReaders the most shared holds of one name at one moment
   * @param overlaps pairs that must not be; empty if the locks excluded
   * @param disorders pairs whose tokens do not rise; empty if fencing would have worked
   */
  public record Report(
      int holds,
      int unfinished,
      Map<Long, Integer> holdsByProcess,
      int mostReaders,
      List<Overlap> overlaps,
      List<TokenDisorder> disorders) {
    private static final int SHOWN = 10;

    /** Takes copies. */
    public Report {
      holdsByProcess = Map.copyOf(Objects.requireNonNull(holdsByProcess, "holdsByProcess"));
      overlaps = List.copyOf(Objects.requireNonNull(overlaps, "overlaps"));
      disorders = List.copyOf(Objects.requireNonNull(disorders, "disorders"));
    }

    /** Whether nothing overlaps and the tokens rise. */
    public boolean isSafe() {
      return overlaps.isEmpty() && disorders.isEmpty();
    }

    /**
     * Does nothing if {@link #isSafe()}.
     *
     * @throws AssertionError with the report, if not
     */
    public void assertSafe() {
      if (!isSafe()) {
        throw new AssertionError(toString());
      }
    }

    @Override
    public String toString() {
      return "%d holds in %d processes, %d without an end, at most %d readers; %d overlaps; %d tokens out of order"
              .formatted(
                  holds,
                  holdsByProcess.size(),
                  unfinished,
                  mostReaders,
                  overlaps.size(),
                  disorders.size())
          + overlaps.stream()
              .limit(SHOWN)
              .map(o -> "%n  overlap: %s%n      and: %s".formatted(o.first(), o.second()))
              .collect(Collectors.joining())
          + disorders.stream()
              .limit(SHOWN)
              .map(d -> "%n  token: %s%n  after: %s".formatted(d.later(), d.earlier()))
              .collect(Collectors.joining());
    }
  }

  private final List<Overlap> overlaps = new ArrayList<>();
  private final List<TokenDisorder> disorders = new ArrayList<>();
  private int mostReaders;

  private HoldChecker() {}

  /**
   * Judges the logs of all processes in this directory.
   *
   * @throws IllegalArgumentException if there is no log
   */
  public static Report check(Path directory) {
    return check(HoldLog.read(directory));
  }

  /** Judges these holds, in whatever order. */
  public static Report check(List<Entry> entries) {
    Objects.requireNonNull(entries, "entries");
    HoldChecker checker = new HoldChecker();
    // At one instant those that last come first, so that they are seen to overlap.
    Comparator<Entry> order =
        Comparator.comparingLong(Entry::acquiredNanos)
            .thenComparing(Comparator.comparingLong(Entry::lastEvidenceNanos).reversed());
    entries.stream()
        .sorted(order)
        .collect(Collectors.groupingBy(Entry::lockName, TreeMap::new, Collectors.toList()))
        .values()
        .forEach(checker::checkName);
    return new Report(
        entries.size(),
        (int) entries.stream().filter(entry -> entry.endNanos().isEmpty()).count(),
        entries.stream()
            .collect(Collectors.groupingBy(Entry::processId, Collectors.summingInt(e -> 1))),
        checker.mostReaders,
        checker.overlaps,
        checker.disorders);
  }

  /** Passes once over the holds of a name in the order of acquisition. */
  private void checkName(List<Entry> ordered) {
    List<Entry> active = new ArrayList<>();
    Entry newest = null; // the exclusive hold with the largest token so far
    for (Entry entry : ordered) {
      active.removeIf(earlier -> earlier.lastEvidenceNanos() <= entry.acquiredNanos());
      boolean nested = active.stream().anyMatch(entry::isOfSameHolder);
      for (Entry earlier : active) {
        if (!entry.isOfSameHolder(earlier) && !(isShared(entry) && isShared(earlier))) {
          overlaps.add(new Overlap(earlier, entry));
        }
      }
      active.add(entry);
      mostReaders =
          Math.max(mostReaders, (int) active.stream().filter(HoldChecker::isShared).count());
      if (newest != null && !nested && !follows(newest, entry)) {
        disorders.add(new TokenDisorder(newest, entry));
      }
      if (!isShared(entry) && (newest == null || entry.fencingToken() > newest.fencingToken())) {
        newest = entry;
      }
    }
  }

  private static boolean follows(Entry newest, Entry entry) {
    return isShared(entry)
        ? entry.fencingToken() >= newest.fencingToken()
        : entry.fencingToken() > newest.fencingToken();
  }

  private static boolean isShared(Entry entry) {
    return entry.mode() == Mode.SHARED;
  }
}
