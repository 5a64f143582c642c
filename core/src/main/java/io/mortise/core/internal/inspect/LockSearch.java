package io.mortise.core.internal.inspect;

import com.google.common.base.Ticker;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.topology.Topology;
import io.mortise.core.LockInspection;
import io.mortise.core.internal.lease.LockExceptions;
import io.mortise.core.spi.LockName;
import java.util.Collection;
import java.util.List;

/**
 * Finds the locks in Redis by a pattern of their names, and inspects them: for tools. Names are
 * those in Redis, with the namespace of the client that made them.
 *
 * <p><b>Threads.</b> Immutable; any thread may call every method.
 */
public record LockSearch(
    Topology topology, LockInspector inspector, long timeoutNanos, Ticker ticker) {

  /**
   * The result of a search.
   *
   * @param locks the locks, in the order of their names
   * @param hasMore whether there are more than the limit
   * @param unreadable how many hashes the user may not read: locks may be among them; after some
   *     refusals it counts hashes that were not asked for
   * @param isPartial whether servers of a cluster were not asked, because its slot map cannot be
   *     read: locks may be there
   */
  public record Found(
      List<LockInspection> locks, boolean hasMore, long unreadable, boolean isPartial) {

    /** Copies the list. */
    public Found {
      locks = List.copyOf(locks);
    }
  }

  /** Returns whether a text has a character that makes it a pattern; otherwise it is a name. */
  public static boolean isPattern(String text) {
    return !quoted(text).equals(text);
  }

  /** Returns the pattern of all names that begin with a text and go on as a pattern says. */
  public static String pattern(String beginning, String rest) {
    return quoted(beginning) + rest;
  }

  private static String quoted(String text) {
    return text.replaceAll("[*?\\[\\\\]", "\\\\$0");
  }

  /**
   * Finds locks that are held, or have a queue. Reads all names of the database, some at a time.
   *
   * @param pattern as {@code SCAN} has it
   * @throws io.mortise.core.LockException if Redis cannot be used
   */
  public Found find(String pattern, int limit) {
    LockScan scan =
        new LockScan(topology, () -> Deadline.after(timeoutNanos, ticker), pattern, limit);
    try {
      scan.run();
    } catch (CommandException fault) {
      throw LockExceptions.from(fault);
    }
    return new Found(inspect(scan.found), scan.hasMore, scan.unreadable, scan.isPartial);
  }

  /** Inspects locks; refuses what is no name of a lock. */
  public List<LockInspection> inspect(Collection<String> names) {
    return inspector.inspectAll(names.stream().map(LockName::new).toList());
  }
}
