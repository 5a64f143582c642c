package io.mortise.it.fairlock;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.scripts.Script;
import io.mortise.testkit.RedisServer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One fair lock as its scripts see it, without any client.
 *
 * <p>Queues are written in words, from head to tail: {@code A} has five seconds left, {@code A!} is
 * over, {@code A?} has no deadline, {@code (A)} has a deadline and no place. A name that begins
 * with R is Redisson's, all others are ours.
 */
final class ScriptedQueue {
  static final long LEFT = 5_000;
  static final long LEASE = 20_000;
  static final long LIFE = 3_000;
  private static final String TOKEN_IDLE = "60000";
  private static final Pattern WORD = Pattern.compile("(\\()?(\\w+)([!?)])?");

  final RedisServer server;
  final String lock = "it:" + UUID.randomUUID();
  final String token = "redisson_lock_token:{" + lock + "}";
  final String forced = "mortise_forced:{" + lock + "}";
  final String list = "redisson_lock_queue:{" + lock + "}";
  final String deadlines = "redisson_lock_timeout:{" + lock + "}";
  final String channels = "redisson_lock__channel:{" + lock + "}";

  ScriptedQueue(RedisServer server) {
    this.server = server;
  }

  /** The holder of that short name. */
  static String holder(String who) {
    return who.startsWith("R")
        ? "6b1f2a34-0d5c-4e7f-9a8b-c0d1e2f3a4b5:" + who.substring(1)
        : "6b1f2a34-0d5c-8e7f-9a8b-c0d1e2f3a4b5:" + who;
  }

  private static String who(String holder) {
    String number = holder.substring(holder.indexOf(':') + 1);
    return holder.charAt(14) == '8' ? number : "R" + number;
  }

  // ---- how things stand before

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
        standsUntil(parts.group(2), mark.equals("!") ? -1 : LEFT);
      }
    }
  }

  void standsUntil(String who, long millisFromNow) {
    server.command("ZADD", deadlines, Long.toString(now() + millisFromNow), holder(who));
  }

  // ---- the scripts

  List<Long> acquire(String who, long life) {
    return numbers(
        run(
            "fair/acquire",
            List.of(lock, token, list, deadlines),
            List.of(holder(who), "" + LEASE, TOKEN_IDLE, "1", "" + life)));
  }

  List<Long> release(String who) {
    return numbers(
        run(
            "fair/release",
            List.of(lock, channels, forced, list, deadlines),
            List.of(holder(who), "PUBLISH")));
  }

  List<Long> leave(String who) {
    return numbers(
        run(
            "fair/leave",
            List.of(lock, channels, list, deadlines),
            List.of(holder(who), "PUBLISH")));
  }

  List<Long> presence(long life, String... all) {
    return presence(life, Collections.nCopies(all.length, this), List.of(all));
  }

  /** One batch: the lock and the waiter of each item. */
  static List<Long> presence(long life, List<ScriptedQueue> locks, List<String> waiters) {
    List<String> keys = new ArrayList<>();
    List<String> arguments = new ArrayList<>();
    for (int i = 0; i < locks.size(); i++) {
      ScriptedQueue each = locks.get(i);
      keys.addAll(List.of(each.lock, each.channels, each.list, each.deadlines));
      arguments.addAll(List.of(holder(waiters.get(i)), "" + life, "PUBLISH"));
    }
    return numbers(locks.get(0).run("fair/heartbeat", keys, arguments));
  }

  long force() {
    return (Long)
        run(
            "fair/force",
            List.of(lock, channels, forced, list, deadlines),
            List.of("PUBLISH", "30000"));
  }

  List<Long> place(String who) {
    return numbers(run("fair/queue", List.of(list, deadlines), List.of(holder(who))));
  }

  private Object run(String path, List<String> keys, List<String> arguments) {
    List<String> words = new ArrayList<>();
    words.add("EVAL");
    words.add(new String(Script.load(path).text(), UTF_8));
    words.add(Integer.toString(keys.size()));
    words.addAll(keys);
    words.addAll(arguments);
    return server.command(words.toArray(String[]::new));
  }

  @SuppressWarnings("unchecked")
  private static List<Long> numbers(Object reply) {
    return (List<Long>) reply;
  }

  // ---- how things stand after

  /** Who holds the lock, or nothing. */
  String holders() {
    return words(strings(server.command("HKEYS", lock)));
  }

  /** The queue in the same words; who has no deadline, or no place, is marked. */
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

  /** How long somebody's place is kept from now, in ms. */
  long left(String who) {
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

  long now() {
    List<String> time = strings(server.command("TIME"));
    return Long.parseLong(time.get(0)) * 1_000 + Long.parseLong(time.get(1)) / 1_000;
  }

  @SuppressWarnings("unchecked")
  private static List<String> strings(Object reply) {
    return (List<String>) reply;
  }
}
