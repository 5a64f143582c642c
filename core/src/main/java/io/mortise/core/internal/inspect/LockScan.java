package io.mortise.core.internal.inspect;

import static io.mortise.scripts.ScriptCall.bytes;
import static io.mortise.scripts.ScriptCall.text;

import com.google.common.collect.Lists;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.topology.Topology;
import io.mortise.core.spi.LockName;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Supplier;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Finds the names of locks in Redis: SCAN for hashes, of which the first fields distinguish a lock
 * from another hash, and SCAN for the queues of fair locks, which may be there beside a free lock.
 * Each step is short, so that a large database is not blocked.
 *
 * <p><b>Threads.</b> Confined to the thread that searches.
 */
final class LockScan {
  private static final int KEYS_EACH_STEP = 1_000;

  /** How many fields are asked for: one of two may be the mode, so the other is a holder. */
  private static final int FIELDS = 2;

  /** How many fields are asked for when the first ones do not decide. */
  private static final int MORE_FIELDS = 100;

  /** How many hashes are asked for at once: Redis keeps the answers until they are read. */
  private static final int GROUP = 20;

  /** After so many no further hash is asked for: each refusal is an entry of the ACL LOG. */
  private static final int MAX_REFUSALS = 20;

  private static final String START = "0";
  private static final String QUEUE = "redisson_lock_queue:";

  private final Topology topology;
  private final Supplier<Deadline> deadlines;
  private final String glob;
  private final int limit;

  // The result, see LockSearch.Found.
  final TreeSet<String> found = new TreeSet<>();
  long unreadable;
  boolean hasMore;
  boolean isPartial;

  LockScan(Topology topology, Supplier<Deadline> deadlines, String glob, int limit) {
    this.topology = topology;
    this.deadlines = deadlines;
    this.glob = glob;
    this.limit = limit;
  }

  /** Asks all servers, one after the other. */
  void run() throws CommandException {
    topology.refresh();
    isPartial = !topology.knowsAllServers();
    for (Topology.Server server : topology.servers()) {
      scan(server, "hash", glob, this::locks);
      // The key of a queue has the name in braces, or a name with a hash tag as it is.
      scan(
          server,
          "list",
          QUEUE + "{" + closed(glob) + "}",
          (keys, unused, end) -> queues(keys, true));
      scan(server, "list", QUEUE + glob, (keys, unused, end) -> queues(keys, false));
    }
  }

  /** Ends a class that is open, and a backslash at the end, as Redis does: more follows. */
  private static String closed(String glob) {
    boolean inClass = false;
    boolean escaped = false;
    for (int i = 0; i < glob.length(); i++) {
      char next = glob.charAt(i);
      if (escaped || next == '\\') {
        escaped = !escaped;
      } else {
        inClass = inClass ? next != ']' : next == '[';
      }
    }
    return glob + (escaped ? "\\" : "") + (inClass ? "]" : "");
  }

  /** Finds the locks among the keys of one step, with further commands on the same connection. */
  @FunctionalInterface
  private interface Step {
    List<String> of(List<byte[]> keys, Connection connection, Deadline deadline);
  }

  private void scan(Topology.Server server, String type, String match, Step step)
      throws CommandException {
    if (hasMore) {
      return;
    }
    String cursor = START;
    do {
      String from = cursor;
      Page page =
          (Page)
              server
                  .exchange(
                      (connection, deadline) -> page(connection, deadline, from, match, type, step),
                      deadlines.get())
                  .value();
      cursor = page.next();
      for (String name : page.names()) {
        if (found.size() == limit && !found.contains(name)) {
          hasMore = true;
          return;
        }
        found.add(name);
      }
      unreadable += page.unreadable();
    } while (!cursor.equals(START));
  }

  /** The result of one step; an exchange may be repeated, so it has no other effect. */
  private record Page(String next, List<String> names, long unreadable) {}

  private Page page(
      Connection connection,
      Deadline deadline,
      String cursor,
      String match,
      String type,
      Step step) {
    connection.setSoTimeout(deadline.leftMillis());
    List<?> answer =
        (List<?>)
            connection.executeCommand(
                new CommandArguments(Command.SCAN)
                    .add(cursor)
                    .add("MATCH")
                    .add(match)
                    .add("COUNT")
                    .add(KEYS_EACH_STEP)
                    .add("TYPE")
                    .add(type));
    List<byte[]> keys = ((List<?>) answer.get(1)).stream().map(key -> (byte[]) key).toList();
    List<String> locks = step.of(keys, connection, deadline);
    return new Page(
        text(answer.get(0)),
        locks.stream().filter(name -> !name.isEmpty()).toList(),
        locks.stream().filter(String::isEmpty).count());
  }

  /** Returns the locks among hashes; an empty name for one that the user may not read. */
  private List<String> locks(List<byte[]> keys, Connection connection, Deadline deadline) {
    List<String> locks = new ArrayList<>();
    long refused = unreadable;
    for (List<byte[]> group : Lists.partition(keys, GROUP)) {
      List<String> some =
          refused < MAX_REFUSALS
              ? locksOf(group, connection, deadline)
              : Collections.nCopies(group.size(), "");
      refused += some.stream().filter(String::isEmpty).count();
      locks.addAll(some);
    }
    return locks;
  }

  private List<String> locksOf(List<byte[]> keys, Connection connection, Deadline deadline) {
    keys.forEach(key -> connection.sendCommand(fields(key, START, FIELDS)));
    List<Object> pages = new ArrayList<>();
    for (int i = 0; i < keys.size(); i++) {
      pages.add(reply(connection, deadline));
    }
    List<String> locks = new ArrayList<>();
    for (int i = 0; i < keys.size(); i++) {
      byte[] key = keys.get(i);
      Object page = pages.get(i);
      while (isUndecided(page)) {
        connection.sendCommand(fields(key, text(((List<?>) page).get(0)), MORE_FIELDS));
        page = reply(connection, deadline);
      }
      if (page instanceof JedisDataException refusal) {
        if (String.valueOf(refusal.getMessage()).startsWith("NOPERM")) {
          locks.add("");
        } // otherwise it has become something else, or has moved to another server
      } else if (LockHashes.isLock((List<?>) ((List<?>) page).get(1))) {
        nameOf(key).ifPresent(locks::add);
      }
    }
    return locks;
  }

  private static CommandArguments fields(byte[] key, String cursor, int count) {
    return new CommandArguments(Command.HSCAN).add(key).add(cursor).add("COUNT").add(count);
  }

  private static Object reply(Connection connection, Deadline deadline) {
    connection.setSoTimeout(deadline.leftMillis());
    return connection.getMany(1).get(0);
  }

  /**
   * Returns whether a page decides nothing, and is not the last one. A hash that has lost most of
   * its fields has few left in many places, and a page looks at some of the places.
   */
  private static boolean isUndecided(Object page) {
    return page instanceof List<?> parts
        && !text(parts.get(0)).equals(START)
        && LockHashes.hasNoHolder((List<?>) parts.get(1));
  }

  /**
   * Returns the locks of queues. The names {@code N} and {@code {N}} have one queue, and it counts
   * for the second one if that was found, whose hash is on the same server.
   */
  private List<String> queues(List<byte[]> keys, boolean inBraces) {
    return keys.stream()
        .map(key -> text(key).substring(QUEUE.length()))
        .filter(tagged -> tagged.matches("\\{[^{]*}") == inBraces)
        .map(
            tagged ->
                inBraces && !found.contains(tagged)
                    ? tagged.substring(1, tagged.length() - 1)
                    : tagged)
        .flatMap(name -> nameOf(bytes(name)).stream())
        .toList();
  }

  /** Returns the name; empty for a key that Mortise would refuse as one. */
  private static Optional<String> nameOf(byte[] key) {
    String name = text(key);
    try {
      return Arrays.equals(bytes(name), key)
          ? Optional.of(new LockName(name).value())
          : Optional.empty();
    } catch (IllegalArgumentException noName) {
      return Optional.empty();
    }
  }
}
