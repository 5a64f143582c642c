package io.mortise.it.fairlock;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.support.ScriptServer;
import io.mortise.testkit.RedisServer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The keys of one fair lock, and its scripts, without any client.
 *
 * <p>Queues are written in words, from head to tail: {@code A} has five seconds left, {@code A!}
 * has timed out, {@code A?} has no deadline, {@code (A)} has a deadline and no place. A name that
 * begins with R is a waiter of Redisson, one that begins with O is of another client of ours, and
 * all others are of one client.
 */
final class ScriptedQueue {
  static final long LEFT = 5_000;
  static final long LEASE = 20_000;
  static final long TIMEOUT = 3_000;
  private static final long HOUR = 3_600_000;
  private static final long SLACK = 2_000;
  private static final String TOKEN_RETENTION = "60000";
  private static final Pattern WORD = Pattern.compile("(\\()?(\\w+)([!?)])?");

  final RedisServer server;
  final String lock = "it:" + UUID.randomUUID();
  final String token = "redisson_lock_token:{" + lock + "}";
  final String forced = "mortise_forced:{" + lock + "}";
  final String list = "redisson_lock_queue:{" + lock + "}";
  final String deadlines = "redisson_lock_timeout:{" + lock + "}";
  final String waiters = "mortise_waiters:{" + lock + "}";
  final String channels = "redisson_lock__channel:{" + lock + "}";

  ScriptedQueue(RedisServer server) {
    this.server = server;
  }

  /** The holder of that short name. */
  static String holder(String who) {
    return switch (who.isEmpty() ? ' ' : who.charAt(0)) {
      case 'R' -> "6b1f2a34-0d5c-4e7f-9a8b-c0d1e2f3a4b5:" + who.substring(1);
      case 'O' -> "6b1f2a34-0d5c-8e7f-9a8b-c0d1e2f3a4b6:" + who.substring(1);
      default -> "6b1f2a34-0d5c-8e7f-9a8b-c0d1e2f3a4b5:" + who;
    };
  }

  private static String who(String holder) {
    String number = holder.substring(holder.indexOf(':') + 1);
    return holder.charAt(14) != '8'
        ? "R" + number
        : holder.charAt(35) == '6' ? "O" + number : number;
  }

  // ---- the state before

  void heldBy(String who, long leaseMillis) {
    server.command("HSET", lock, holder(who), "1");
    if (leaseMillis > 0) {
      server.command("PEXPIRE", lock, Long.toString(leaseMillis));
    }
  }

  void queued(String words) {
    for (String word : words.isEmpty() ? new String[0] : words.split(" ", -1)) {
      Matcher parts = WORD.matcher(word);
      if (!parts.matches()) {
        throw new IllegalArgumentException(word);
      }
      String mark = parts.group(3) == null ? "" : parts.group(3);
      if (!mark.equals(")")) {
        server.command("RPUSH", list, holder(parts.group(2)));
      }
      if (!mark.equals("?")) {
        keepPlaceFor(parts.group(2), mark.equals("!") ? -1 : LEFT);
      }
    }
  }

  /** Queues many living waiters in two commands: the first is alive when the last has come. */
  void queuedAtOnce(List<String> waiters) {
    String deadline = Long.toString(now() + HOUR);
    List<String> places = new ArrayList<>(List.of("RPUSH", list));
    List<String> members = new ArrayList<>(List.of("ZADD", deadlines));
    for (String waiter : waiters) {
      places.add(holder(waiter));
      members.addAll(List.of(deadline, holder(waiter)));
    }
    server.command(places.toArray(String[]::new));
    server.command(members.toArray(String[]::new));
  }

  void keepPlaceFor(String who, long millisFromNow) {
    server.command("ZADD", deadlines, Long.toString(now() + millisFromNow), holder(who));
  }

  // ---- the scripts

  List<Long> acquire(String who, long timeout) {
    return numbers(acquireWithRun(who, 0, timeout));
  }

  /** The same; a grant may cover a run. */
  List<?> acquireWithRun(String who, int maxRun, long timeout) {
    return (List<?>)
        run(
            "fair/acquire",
            List.of(lock, token, list, deadlines),
            holder(who),
            LEASE,
            TOKEN_RETENTION,
            maxRun,
            timeout);
  }

  /** Returns the run of a grant in words. */
  static String run(List<?> reply) {
    return words(reply.subList(3, reply.size()).stream().map(String.class::cast).toList());
  }

  List<Long> release(String who, String... served) {
    return numbers(
        run(
            "fair/release",
            List.of(lock, channels, forced, list, deadlines, waiters),
            holder(who),
            "PUBLISH",
            names(served)));
  }

  List<Long> keep(String who, long rest, String... served) {
    return numbers(
        run(
            "fair/keep",
            List.of(lock, channels, forced, list, deadlines, waiters),
            holder(who),
            "PUBLISH",
            rest,
            names(served)));
  }

  List<Long> leave(String who, String... served) {
    return numbers(
        run(
            "fair/leave",
            List.of(lock, channels, list, deadlines, waiters),
            holder(who),
            "PUBLISH",
            names(served)));
  }

  private static String names(String... served) {
    return String.join(" ", Stream.of(served).map(ScriptedQueue::holder).toList());
  }

  List<Long> heartbeat(long timeout, String... all) {
    return heartbeat(timeout, Collections.nCopies(all.length, this), List.of(all));
  }

  /** One batch: the lock and the waiter of each item. */
  static List<Long> heartbeat(long timeout, List<ScriptedQueue> locks, List<String> waiters) {
    List<String> keys = new ArrayList<>();
    List<Object> arguments = new ArrayList<>();
    for (int i = 0; i < locks.size(); i++) {
      ScriptedQueue each = locks.get(i);
      keys.addAll(List.of(each.lock, each.channels, each.list, each.deadlines));
      arguments.addAll(List.of(holder(waiters.get(i)), timeout, "PUBLISH"));
    }
    return numbers(locks.get(0).run("fair/heartbeat", keys, arguments.toArray()));
  }

  long force() {
    return (Long)
        run(
            "fair/force",
            List.of(lock, channels, forced, list, deadlines, waiters),
            "PUBLISH",
            "30000");
  }

  List<Long> lengthAndPosition(String who) {
    return numbers(run("fair/queue", List.of(list, deadlines), holder(who)));
  }

  private Object run(String path, List<String> keys, Object... arguments) {
    return ScriptServer.run(server, path, keys, arguments);
  }

  @SuppressWarnings("unchecked")
  private static List<Long> numbers(Object reply) {
    return (List<Long>) reply;
  }

  // ---- the state after

  /** Returns the holder, or an empty string. */
  String holders() {
    return words(strings(server.command("HKEYS", lock)));
  }

  /** Returns the queue in the same words. */
  String queue() {
    Set<String> places = new LinkedHashSet<>();
    List<String> words = new ArrayList<>();
    for (String holder : strings(server.command("LRANGE", list, "0", "-1"))) {
      boolean twice = !places.add(holder);
      words.add(who(holder) + (twice ? "*" : score(holder) == null ? "?" : ""));
    }
    for (String holder : strings(server.command("ZRANGE", deadlines, "0", "-1"))) {
      if (!places.contains(holder)) {
        words.add("(" + who(holder) + ")");
      }
    }
    return String.join(" ", words);
  }

  /** Returns the time to the deadline of that waiter. */
  long millisLeft(String who) {
    return (long) Double.parseDouble(score(holder(who))) - now();
  }

  private String score(String holder) {
    return (String) server.command("ZSCORE", deadlines, holder);
  }

  private static String words(List<String> holders) {
    return String.join(" ", holders.stream().map(ScriptedQueue::who).toList());
  }

  /** The keys of this lock that have no TTL. */
  List<String> keysWithoutTtl() {
    return strings(server.command("KEYS", "*" + lock + "*")).stream()
        .filter(key -> pttl(key) == -1)
        .toList();
  }

  List<String> keys() {
    return strings(server.command("KEYS", "*" + lock + "*"));
  }

  long pttl(String key) {
    return (Long) server.command("PTTL", key);
  }

  /** It is that time, less the time that a test may take between two readings of the clock. */
  static void assertWithin(long most, long millis) {
    assertTrue(millis <= most && millis > most - SLACK, () -> millis + " of " + most);
  }

  long now() {
    List<String> time = strings(server.command("TIME"));
    return Long.parseLong(time.get(0)) * 1_000 + Long.parseLong(time.get(1)) / 1_000;
  }

  @SuppressWarnings("unchecked")
  private static List<String> strings(Object reply) {
    return (List<String>) reply;
  }
}
