package io.mortise.it.rwlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.spi.LockName;
import io.mortise.it.support.ScriptServer;
import io.mortise.testkit.RedisServer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;

/**
 * The keys of one read-write lock, written and read in a short notation, and its scripts, each run
 * alone.
 *
 * <pre>
 *   free                 no key
 *   read, write, plain   the mode; plain is a hash without one
 *   ttl:900              what is left of the hash, in hundredths of a second, as all times here;
 *                        ttl:ever has no end, a:ever neither
 *   a:900                a reader of ours with 9 s left; A is one of Redisson's
 *   A*3:over,over,900    one that reads three times, two of its leases are over
 *   w!  w!:900           a writer; with a lease key of its own
 *   a^  w^!              what is kept of a hold until the end of its minimum
 *   intent:w!  wait:a  turn:a    the keys of the waiters
 *   turnleft:550         what is left of the turn; intentleft:500, of the intent
 *   persist:turn         the turn, or the intent, has no end
 *   writers:w!,v!+       the registered writers in their order; v was notified
 *   registered:900       what is left of them, if nobody asks
 *   queue:a,w!,b~        the queue of a fair lock; b has timed out
 * </pre>
 */
final class ScriptState {
  /** One unit of time, in ms, long enough that a slow machine does not matter. */
  private static final long UNIT = 10;

  private static final long SLACK_MILLIS = 8_000;
  private static final long PAST = 1_000;
  private static final String NO_END = "ever";
  private static final String WAITER_TIMEOUT = Long.toString(5_000 * UNIT);
  private static final long LEASE = 9_000 * UNIT;
  private static final String WRITERS = "mortise_write_waiters";
  private static final String INTENT = "mortise_write_intent";
  private static final String TOKEN_OF_THE_WRITER = "7";

  /** A notification adds this to the place of a writer. */
  private static final long NOTIFIED = 1L << 52;

  /** Writes all of a state at one moment of the server's clock. */
  private static final String WRITE =
      "for _, words in ipairs(ARGV) do redis.call(unpack(cjson.decode(words))) end";

  private final RedisServer server;
  private final LockName name;
  private final NotedReaders noted;
  private final List<String> writes = new ArrayList<>();

  /** The readers of ours, with their leases in ms. */
  private final Map<String, Long> leases = new LinkedHashMap<>();

  ScriptState(RedisServer server, String name, NotedReaders noted) {
    this.server = server;
    this.name = new LockName(name);
    this.noted = noted;
  }

  /** Returns the id of a holder, as a client of ours, or of Redisson, forms it. */
  static String holder(String shortName) {
    boolean writer = shortName.endsWith("!");
    String letter = shortName.replace("!", "").replace("^", "");
    String kept = shortName.contains("^") ? ":kept" : "";
    String version = Character.isUpperCase(letter.charAt(0)) ? "4" : "8";
    String padded = (letter.toLowerCase(Locale.ROOT) + "0000000").substring(0, 8);
    return padded
        + ("-0000-" + version + "000-8000-000000000000:1" + kept)
        + (writer ? ":write" : "");
  }

  private String key(String prefix) {
    return name.derive(prefix);
  }

  private String leaseKey(String hold, int count) {
    return leaseKeyOf(holder(hold), count);
  }

  private String leaseKeyOf(String holder, int count) {
    return name.tagged() + ":" + holder + ":rwlock_timeout:" + count;
  }

  // ---- before

  void write(String state) {
    String ttl = "30000";
    for (String word : state.split(" +", -1)) {
      String[] part = word.split(":", 2);
      switch (part[0]) {
        case "free" -> {}
        case "read", "write" -> add("HSET", name.value(), "mode", word);
        case "plain" -> add("HSET", name.value(), holder("p"), "1");
        case "ttl" -> ttl = part[1];
        case "intent" -> add("SET", key(INTENT), holder(part[1]), "PX", WAITER_TIMEOUT);
        case "wait" -> waits("mortise_read_waiters", part[1]);
        case "turn" -> {
          waits("mortise_read_turn", part[1]);
          add("PEXPIRE", key("mortise_read_turn"), WAITER_TIMEOUT);
        }
        case "persist" ->
            add("PERSIST", key(part[1].equals("turn") ? "mortise_read_turn" : INTENT));
        case "writers" -> registers(part[1].split(",", -1));
        case "queue" -> {
          for (String waiter : part[1].split(",", -1)) {
            add("RPUSH", key("redisson_lock_queue"), holder(waiter.replace("~", "")));
            waits("redisson_lock_timeout", waiter);
          }
        }
        default -> holds(part[0], part.length > 1 ? part[1] : "");
      }
    }
    if (!ttl.equals(NO_END)) {
      add("PEXPIRE", name.value(), millis(ttl));
    }
    for (String[] command : noted.commands(name, leases)) {
      add(command);
    }
    if (noted == NotedReaders.OF_AN_EARLIER_HASH) {
      add("SET", leaseKeyOf(NotedReaders.GHOSTS.get(0), 1), "1", "PX", WAITER_TIMEOUT);
    }
    List<String> words = new ArrayList<>(List.of("EVAL", WRITE, "0"));
    words.addAll(writes);
    redis(words.toArray(String[]::new));
  }

  private void add(String... words) {
    writes.add("[\"" + String.join("\",\"", words) + "\"]");
  }

  private static String millis(String units) {
    return Long.toString(Long.parseLong(units) * UNIT);
  }

  private void registers(String... writers) {
    for (int place = 1; place <= writers.length; place++) {
      String writer = writers[place - 1];
      long notified = writer.endsWith("+") ? NOTIFIED : 0;
      add("ZADD", key(WRITERS), Long.toString(place + notified), holder(writer.replace("+", "")));
    }
    add("PEXPIRE", key(WRITERS), millis("1000"));
  }

  private void waits(String where, String waiter) {
    long until = Instant.now().toEpochMilli() + (waiter.endsWith("~") ? -PAST : 5_000 * UNIT);
    add("ZADD", key(where), Long.toString(until), holder(waiter.replace("~", "")));
  }

  private void holds(String hold, String leases) {
    String[] counted = hold.split("\\*", 2);
    add("HSET", name.value(), holder(counted[0]), counted.length > 1 ? counted[1] : "1");
    if (!counted[0].endsWith("!") && Character.isLowerCase(counted[0].charAt(0))) {
      this.leases.put(holder(counted[0]), leaseMillis(leases));
    }
    int count = 0;
    for (String lease : leases.split(",", -1)) {
      count++;
      if (lease.equals(NO_END)) {
        add("SET", leaseKey(counted[0], count), "1");
      } else if (!lease.isEmpty() && !lease.equals("over")) {
        add("SET", leaseKey(counted[0], count), "1", "PX", millis(lease));
      }
    }
  }

  private static long leaseMillis(String lease) {
    return switch (lease) {
      case NO_END -> NotedReaders.ever();
      case "", "over" -> NotedReaders.over();
      default -> Long.parseLong(lease) * UNIT;
    };
  }

  // ---- after

  void assertIs(String expected) {
    TreeSet<String> fields = new TreeSet<>();
    for (String word : expected.split(" +", -1)) {
      String[] part = word.split(":", 2);
      switch (part[0]) {
        case "free" -> {}
        case "read", "write" -> {
          fields.add("mode");
          assertEquals(word, redis("HGET", name.value(), "mode"));
        }
        case "ttl" -> assertLeft(part[1], name.value());
        case "intent" ->
            assertEquals(part[1].isEmpty() ? null : holder(part[1]), redis("GET", key(INTENT)));
        case "writers" -> assertEquals(registered(part[1]), registered());
        case "registered" -> assertLeft(part[1], key(WRITERS));
        case "wait" -> assertWaiting(part[1], "mortise_read_waiters");
        case "turn" -> assertWaiting(part[1], "mortise_read_turn");
        case "turnleft" -> assertLeft(part[1], key("mortise_read_turn"));
        case "intentleft" -> assertLeft(part[1], key(INTENT));
        case "queue" -> {
          assertWaiting(part[1], "redisson_lock_timeout");
          assertEquals(holders(part[1]), redis("LRANGE", key("redisson_lock_queue"), "0", "-1"));
        }
        default -> {
          fields.add(holder(part[0]));
          if (part.length > 1) {
            assertLeft(part[1], leaseKey(part[0], 1));
          }
        }
      }
    }
    assertEquals(List.copyOf(fields), List.copyOf(new TreeSet<>(list("HKEYS", name.value()))));
    for (String leaseKey : list("KEYS", name.tagged() + ":*:rwlock_timeout:*")) {
      String hold = leaseKey.substring(name.tagged().length() + 1, leaseKey.indexOf(":rwlock"));
      if (NotedReaders.GHOSTS.contains(hold)) {
        continue;
      }
      assertTrue(fields.contains(hold), () -> leaseKey + " has outlived its hold");
      assertTrue((Long) redis("PTTL", leaseKey) != -2, leaseKey);
    }
    noted.assertAfter(server, name);
  }

  private static List<String> holders(String shortNames) {
    List<String> holders = new ArrayList<>();
    for (String each : shortNames.split(",", -1)) {
      if (!each.isEmpty()) {
        holders.add(holder(each));
      }
    }
    return holders;
  }

  /** The registered writers in their order, each with whether it was notified. */
  private static List<String> registered(String expected) {
    List<String> writers = new ArrayList<>();
    for (String each : expected.split(",", -1)) {
      if (!each.isEmpty()) {
        writers.add(holder(each.replace("+", "")) + (each.endsWith("+") ? "+" : ""));
      }
    }
    return writers;
  }

  private List<String> registered() {
    List<String> writers = new ArrayList<>();
    List<String> places = list("ZRANGE", key(WRITERS), "0", "-1", "WITHSCORES");
    for (int i = 0; i < places.size(); i += 2) {
      boolean notified = Double.parseDouble(places.get(i + 1)) >= NOTIFIED;
      writers.add(places.get(i) + (notified ? "+" : ""));
    }
    return writers;
  }

  private void assertWaiting(String expected, String where) {
    assertEquals(
        new TreeSet<>(holders(expected)), new TreeSet<>(list("ZRANGE", key(where), "0", "-1")));
  }

  private void assertLeft(String expected, String key) {
    long left = (Long) redis("PTTL", key);
    if (expected.equals("over")) {
      assertEquals(-2, left);
      return;
    } else if (expected.equals(NO_END)) {
      assertEquals(-1, left, key);
      return;
    }
    assertAbout(Long.parseLong(expected), left, key);
  }

  /** A key without an end has -1 left, which is near no expected time. */
  static void assertAbout(long units, long left, String what) {
    long expected = units * UNIT;
    assertTrue(
        left != -1 && left <= expected + 1 && left > expected - SLACK_MILLIS,
        () -> what + ": " + left + " ms instead of " + expected);
  }

  // ---- the scripts

  /**
   * Runs a script. A call has the name of the script, the holder, and its other arguments: a lease;
   * {@code waits} for an attempt that waits; {@code below w!} for a read beside that write hold,
   * whose token is 7.
   */
  Object call(String call) {
    String[] words = call.split(" ", -1);
    String path = "rw/" + words[0];
    String who = words.length > 1 ? words[1] : "";
    String timeout = call.contains(" waits") ? WAITER_TIMEOUT : "0";
    String below = call.contains(" below ") ? holder(words[words.length - 1]) : "";
    String token = below.isEmpty() ? "0" : TOKEN_OF_THE_WRITER;
    return switch (words[0]) {
      case "read", "fair_read" ->
          run(path, token(), holder(who), LEASE, "PUBLISH", below, timeout, 60_000, token);
      case "write", "fair_write" ->
          run(path, token(), holder(who), LEASE, "PUBLISH", timeout, 60_000, 1);
      case "release" -> run(path, forced(), holder(who), "PUBLISH");
      case "keep" -> run(path, forced(), holder(who), "PUBLISH", millis(words[2]));
      case "leave" -> run(path, keys(), holder(who), "PUBLISH");
      case "notify" -> run(path, keys(), "PUBLISH");
      case "renew" ->
          run(
              path,
              List.of(
                  name.value(), name.tagged(), key("mortise_forced_holds"), key("mortise_readers")),
              holder(who),
              millis(words[2]));
      case "force" -> run(path, forced(), who, "PUBLISH", 30_000);
      case "inspect" ->
          run(path, List.of(name.value(), name.tagged(), key("mortise_readers")), who);
      case "reader_heartbeat" ->
          run(
              path,
              List.of(
                  name.value(), key(INTENT), key("mortise_read_waiters"), key("mortise_read_turn")),
              holder(who),
              WAITER_TIMEOUT);
      case "writer_heartbeat" -> run(path, keys(), holder(who), WAITER_TIMEOUT, "PUBLISH");
      case "fair_heartbeat" -> fairHeartbeats(List.of(words).subList(1, words.length));
      default -> throw new IllegalArgumentException(call);
    };
  }

  /** The heartbeats of several waiters, in one batch. */
  private Object fairHeartbeats(List<String> waiters) {
    List<String> keys = new ArrayList<>();
    List<Object> arguments = new ArrayList<>();
    for (String waiter : waiters) {
      keys.addAll(keys());
      arguments.addAll(List.of(holder(waiter), WAITER_TIMEOUT, "PUBLISH"));
    }
    return run("rw/fair_heartbeat", keys, arguments.toArray());
  }

  private List<String> keys() {
    return List.of(
        name.value(),
        name.tagged(),
        key("redisson_rwlock"),
        key("mortise_write_intent"),
        key("mortise_read_waiters"),
        key("mortise_read_turn"),
        key("redisson_lock_queue"),
        key("redisson_lock_timeout"),
        key("mortise_readers"));
  }

  private List<String> token() {
    return plus(name.tokenKey());
  }

  private List<String> forced() {
    return plus(key("mortise_forced_holds"));
  }

  private List<String> plus(String last) {
    List<String> all = new ArrayList<>(keys());
    all.add(last);
    return all;
  }

  private Object run(String path, List<String> keys, Object... arguments) {
    return ScriptServer.run(server, path, keys, arguments);
  }

  @SuppressWarnings("unchecked")
  private List<String> list(String... words) {
    return (List<String>) redis(words);
  }

  private Object redis(String... words) {
    return server.command(words);
  }
}
