package io.mortise.cli.inspect;

import io.mortise.cli.options.OptionNames;
import io.mortise.cli.text.Cell;
import io.mortise.cli.text.Style;
import io.mortise.cli.text.TextTable;
import io.mortise.cli.text.Times;
import io.mortise.core.LockException;
import io.mortise.core.LockInspection;
import io.mortise.core.LockInspection.Participant;
import io.mortise.core.LockInspection.Participant.Access;
import io.mortise.core.LockInspection.Participant.Library;
import io.mortise.core.LockOptions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Locks as an aligned table: a line for each lock, and below it a line for each holder and waiter.
 * Names of hosts are cut, so that it fits into 120 columns, and nearly always into 80.
 *
 * <p><b>Threads.</b> Immutable; any thread may call any method.
 */
public final class LockTable {
  private static final int MAX_CLIENT = 20;
  private static final int MAX_PROCESS = 32;

  /** How many characters of a random id are shown. */
  private static final int SHORT_ID = 8;

  /** How many waiters of a lock are shown; all of them are in the JSON. */
  private static final int MAX_WAITERS = 20;

  private static final String UNKNOWN = "-";

  private final Instant now;

  /**
   * @param now by the clock of this machine, for the time since when a lock is held
   */
  public LockTable(Instant now) {
    this.now = now;
  }

  /** Returns the lines of all locks of a Redis, and what is missing among them. */
  public List<String> of(Census census, boolean colours) {
    TextTable table = new TextTable();
    if (!census.found().locks().isEmpty()) {
      heading(table);
    }
    census.found().locks().forEach(lock -> lock(table, lock));
    List<String> lines = new ArrayList<>(table.lines(colours));
    summary(census).forEach(cell -> lines.add(cell.style().of(cell.text(), colours)));
    return lines;
  }

  /** Returns the lines of one lock. */
  public List<String> of(LockInspection lock, boolean colours) {
    TextTable table = new TextTable();
    heading(table);
    lock(table, lock);
    return table.lines(colours);
  }

  private static void heading(TextTable table) {
    table.row(
        faint("LOCK"),
        faint("CLIENT"),
        faint("HOST:PROCESS"),
        faint("THREAD"),
        faint("SINCE"),
        faint("LEFT"));
  }

  private void lock(TextTable table, LockInspection lock) {
    table.across(
        new Cell(lock.name(), Style.NAME),
        lock.failure()
            .map(failure -> new Cell("could not be asked: " + said(failure), Style.PROBLEM))
            .orElseGet(() -> Cell.plain(LockText.state(lock))));
    lock.holders().forEach(holder -> participant(table, holder, "  " + verb(holder), Style.GOOD));
    int place = 1;
    for (Participant waiter : lock.waiters().stream().limit(MAX_WAITERS).toList()) {
      participant(table, waiter, "  waits %d%s".formatted(place++, side(waiter)), Style.WARNING);
    }
    long more = Math.max(lock.queueLength(), lock.waiters().size()) - (place - 1);
    if (more > 0) {
      table.across(faint("  and %d more wait".formatted(more)));
    }
    if (!lock.isComplete() && lock.failure().isEmpty()) {
      table.across(
          faint(
              "  not all of it was read: the user may not read all of its keys, or its hash has more than 1000 fields"));
    }
  }

  private static String said(LockException failure) {
    return OptionNames.in(String.valueOf(failure.getMessage()));
  }

  private static String verb(Participant holder) {
    if (holder.isReleased()) {
      return "kept";
    }
    String verb =
        switch (holder.access()) {
          case EXCLUSIVE -> "holds";
          case READ -> "reads";
          case WRITE -> "writes";
        };
    return holder.holdCount() > 1 ? verb + " x" + holder.holdCount() : verb;
  }

  private static String side(Participant waiter) {
    return waiter.access() == Access.EXCLUSIVE
        ? ""
        : waiter.access() == Access.READ ? " read" : " write";
  }

  private void participant(TextTable table, Participant each, String role, Style style) {
    table.row(
        new Cell(role, style),
        client(each).atMost(MAX_CLIENT),
        Cell.plain(process(each)).atMost(MAX_PROCESS),
        Cell.plain(
            each.threadId().isPresent() ? Long.toString(each.threadId().getAsLong()) : UNKNOWN),
        Cell.plain(
            each.acquiredAt()
                .or(each::askedAt)
                .map(since -> Times.of(Duration.between(since, now)))
                .orElse(UNKNOWN)),
        left(each));
  }

  private static Cell client(Participant each) {
    String id = each.clientId().orElse(each.id());
    String shortId = id.substring(0, Math.min(SHORT_ID, id.length()));
    return each.library() == Library.REDISSON
        ? new Cell("Redisson " + shortId, Style.FOREIGN)
        : each.library() == Library.MORTISE
            ? Cell.plain(shortId)
            : new Cell("? " + each.id(), Style.FOREIGN);
  }

  private static String process(Participant each) {
    return each.host().isEmpty()
        ? UNKNOWN
        : each.host().get()
            + (each.processId().isPresent() ? ":" + each.processId().getAsLong() : "");
  }

  private static Cell left(Participant each) {
    if (each.holdCount() == 0 && each.remaining().isZero()) {
      return new Cell("over", Style.PROBLEM);
    }
    return Cell.plain(
        each.remaining().equals(LockOptions.MAX_LEASE) ? "no end" : Times.of(each.remaining()));
  }

  private static List<Cell> summary(Census census) {
    List<Cell> lines = new ArrayList<>();
    census
        .failure()
        .ifPresent(
            failure -> lines.add(new Cell("cannot be asked now: " + said(failure), Style.PROBLEM)));
    if (census.found().hasMore()) {
      lines.add(
          new Cell(
              "there are more than these %d locks; --limit shows more, a pattern shows others"
                  .formatted(census.found().locks().size()),
              Style.WARNING));
    }
    if (census.found().unreadable() > 0) {
      lines.add(
          new Cell(
              "%d hashes were not read, and may be locks: the user lacks rights, and after some refusals no more are asked for; a pattern of the keys that the user may read finds their locks"
                  .formatted(census.found().unreadable()),
              Style.WARNING));
    }
    return lines;
  }

  private static Cell faint(String text) {
    return new Cell(text, Style.FAINT);
  }
}
