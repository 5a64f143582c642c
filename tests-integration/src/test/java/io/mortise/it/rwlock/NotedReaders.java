package io.mortise.it.rwlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.spi.LockName;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** What the sorted set of readers knows of a hash that is in a given state. */
enum NotedReaders {
  /** Nothing: it was evicted, or has ended. */
  NONE,

  /** All readers of ours. */
  ALL,

  /** One of several. */
  ONE,

  /** All, each with an end an hour before its own: the clock was set forward, or is another one. */
  EARLY,

  /** All, each with an end an hour after its own: the clock was set back, or leases were cut. */
  LATE,

  /** Readers of an earlier hash, which Redisson deleted; their lease keys have stayed. */
  OF_AN_EARLIER_HASH;

  static final List<String> GHOSTS =
      List.of("99999990-0000-8000-8000-000000000000:1", "99999991-0000-8000-8000-000000000000:1");

  private static final long HOUR = Duration.ofHours(1).toMillis();
  private static final long PAST = 1_000;
  private static final long SLACK = 5_000;

  /** The end of a lease without one, as the scripts write it. */
  private static final long FOREVER = 1L << 53;

  private static String key(LockName name) {
    return name.derive("mortise_readers");
  }

  /** Returns the commands that write the set, and what belongs to it. */
  String[][] commands(LockName name, Map<String, Long> leases) {
    Map<String, Long> members = new LinkedHashMap<>();
    switch (this) {
      case NONE -> {}
      case ALL -> members.putAll(leases);
      case ONE ->
          leases.entrySet().stream().limit(1).forEach(e -> members.put(e.getKey(), e.getValue()));
      case EARLY -> leases.forEach((reader, left) -> members.put(reader, left - HOUR));
      case LATE -> leases.forEach((reader, left) -> members.put(reader, left + HOUR));
      case OF_AN_EARLIER_HASH -> GHOSTS.forEach(ghost -> members.put(ghost, HOUR));
    }
    long now = Instant.now().toEpochMilli();
    Stream<String[]> ends =
        members.entrySet().stream()
            .map(
                e -> {
                  long end = e.getValue() >= FOREVER ? FOREVER : now + e.getValue();
                  return new String[] {"ZADD", key(name), Long.toString(end), e.getKey()};
                });
    String[] life = {"PEXPIRE", key(name), Long.toString(HOUR)};
    return Stream.concat(ends, Stream.<String[]>of(life)).toArray(String[][]::new);
  }

  /** Returns the lease of a reader that has none any more. */
  static long over() {
    return -PAST;
  }

  static long ever() {
    return FOREVER;
  }

  /**
   * The set has an end, and its members are all in the hash or none is; if all readers were in it,
   * they are now, with the ends of their leases.
   */
  void assertAfter(RedisServer server, LockName name) {
    Set<String> fields = strings(server, "HKEYS", name.value());
    Set<String> members = strings(server, "ZRANGE", key(name), "0", "-1");
    if (!members.isEmpty()) {
      assertTrue((Long) server.command("PTTL", key(name)) > 0, "the set has no end");
    }
    Set<String> both = new TreeSet<>(members);
    both.retainAll(fields);
    assertTrue(
        both.isEmpty() || both.equals(members), () -> members + " beside the hash of " + fields);
    if (this == ALL) {
      Set<String> readers = new TreeSet<>(fields);
      readers.removeIf(field -> field.length() < 15 || field.charAt(14) != '8');
      readers.removeIf(field -> field.endsWith(":write"));
      if (readers.size() > 1) {
        assertEquals(readers, members);
      }
    }
    if (this == ALL || this == NONE || this == ONE) {
      both.forEach(reader -> assertEnd(server, name, reader));
    }
  }

  private static void assertEnd(RedisServer server, LockName name, String reader) {
    long left = (Long) server.command("PTTL", name.tagged() + ":" + reader + ":rwlock_timeout:1");
    double end = Double.parseDouble((String) server.command("ZSCORE", key(name), reader));
    if (left == -1) {
      assertEquals(FOREVER, end);
    } else {
      double expected = Instant.now().toEpochMilli() + Math.max(left, 0);
      assertTrue(
          left == -2 ? end < expected : Math.abs(end - expected) < SLACK,
          () -> reader + " has " + left + " ms left, and the end " + end + " at " + expected);
    }
  }

  @SuppressWarnings("unchecked")
  private static Set<String> strings(RedisServer server, String... words) {
    return new TreeSet<>((List<String>) server.command(words));
  }
}
