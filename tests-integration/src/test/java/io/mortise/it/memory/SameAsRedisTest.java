package io.mortise.it.memory;

import static org.junit.jupiter.api.Assertions.fail;

import io.mortise.testkit.InMemoryRedis;
import io.mortise.testkit.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.util.SafeEncoder;

/**
 * A Redis in memory answers as a real one, and has the same keys afterwards: random sequences of
 * all scripts, on both. {@code -Dmortise.memory.seed=1} repeats a run, {@code
 * -Dmortise.memory.sequences} says how many.
 */
@Timeout(300)
class SameAsRedisTest {
  private static final long SEED = Long.getLong("mortise.memory.seed", System.nanoTime());
  private static final int SEQUENCES = Integer.getInteger("mortise.memory.sequences", 10_000);
  private static final int CALLS = 10;

  /** What the two clocks, and the moments of the two calls, may differ by. */
  private static final long SLACK_MILLIS = 20_000;

  private Jedis real;
  private InMemoryRedis memory;

  @Test
  void tenThousandSequencesOfScriptsGiveTheSame() {
    try (RedisServer server = RedisServer.start();
        Jedis jedis = new Jedis(server.host(), server.port(), 10_000);
        InMemoryRedis inMemory = InMemoryRedis.start()) {
      real = jedis;
      memory = inMemory;
      for (int i = 0; i < SEQUENCES; i++) {
        sequence(SEED + i);
        if (i % 500 == 499) {
          real.flushAll();
          memory.command("FLUSHALL");
        }
      }
    }
  }

  private void sequence(long seed) {
    String prefix = "s" + Long.toHexString(seed);
    RandomCalls calls = new RandomCalls(new Random(seed), prefix);
    List<String> history = new ArrayList<>();
    for (int i = 0; i < CALLS; i++) {
      List<String> words = calls.next();
      history.add(brief(words));
      Object expected = onRedis(words);
      Object actual = inMemory(words);
      if (!same(expected, actual)) {
        fail(
            "seed %d: %s; Redis answers %s, the one in memory %s"
                .formatted(seed, history, expected, actual));
      }
    }
    TreeSet<String> keys = new TreeSet<>(strings(onRedis(List.of("KEYS", "*" + prefix + "*"))));
    TreeSet<String> keysInMemory =
        new TreeSet<>(strings(inMemory(List.of("KEYS", "*" + prefix + "*"))));
    if (!keys.equals(keysInMemory)) {
      fail(
          "seed %d: %s; Redis has %s, the one in memory %s"
              .formatted(seed, history, keys, keysInMemory));
    }
    for (String key : keys) {
      compare(key, seed, history);
    }
  }

  private void compare(String key, long seed, List<String> history) {
    String type = String.valueOf(onRedis(List.of("TYPE", key)));
    List<List<String>> questions = new ArrayList<>();
    questions.add(List.of("TYPE", key));
    questions.add(List.of("PTTL", key));
    questions.add(
        switch (type) {
          case "hash" -> List.of("HGETALL", key);
          case "list" -> List.of("LRANGE", key, "0", "-1");
          case "set" -> List.of("SMEMBERS", key);
          case "zset" -> List.of("ZRANGE", key, "0", "-1", "WITHSCORES");
          default -> List.of("GET", key);
        });
    for (List<String> question : questions) {
      Object expected = onRedis(question);
      Object actual = inMemory(question);
      boolean unordered = type.equals("set") || type.equals("hash");
      boolean same =
          (unordered && expected instanceof List<?> e && actual instanceof List<?> a)
              ? new TreeSet<>(strings(e)).equals(new TreeSet<>(strings(a)))
              : same(expected, actual);
      if (!same) {
        fail(
            "seed %d: %s; then %s: Redis answers %s, the one in memory %s"
                .formatted(seed, history, question, expected, actual));
      }
    }
  }

  private static String brief(List<String> words) {
    if (!words.get(0).equals("EVAL")) {
      return String.join(" ", words);
    }
    String firstLine = words.get(1).lines().findFirst().orElse("");
    return firstLine + " " + words.subList(2, words.size());
  }

  private Object onRedis(List<String> words) {
    try {
      return decoded(
          real.sendCommand(
              Protocol.Command.valueOf(words.get(0)),
              words.subList(1, words.size()).toArray(String[]::new)));
    } catch (JedisDataException e) {
      return new Failure(e.getMessage());
    }
  }

  private static Object decoded(Object reply) {
    if (reply instanceof byte[] bytes) {
      return SafeEncoder.encode(bytes);
    } else if (reply instanceof List<?> items) {
      return items.stream().map(SameAsRedisTest::decoded).toList();
    }
    return reply;
  }

  private Object inMemory(List<String> words) {
    try {
      return memory.command(words.toArray(String[]::new));
    } catch (IllegalArgumentException e) {
      return new Failure(String.valueOf(e.getMessage()));
    }
  }

  /** An error reply; versions of Redis word it in different ways, and keep its code. */
  private record Failure(String text) {
    boolean isAs(Failure other) {
      return code().equals(other.code());
    }

    private String code() {
      return Stream.of("WRONGTYPE", "LOCKTYPE", "OOM")
          .filter(text::contains)
          .findFirst()
          .orElse("another error");
    }
  }

  private static List<String> strings(Object list) {
    return ((List<?>) list).stream().map(String::valueOf).toList();
  }

  private static boolean same(Object expected, Object actual) {
    if (expected instanceof Failure e && actual instanceof Failure a) {
      return e.isAs(a);
    } else if (expected instanceof List<?> e && actual instanceof List<?> a) {
      boolean same = e.size() == a.size();
      for (int i = 0; same && i < e.size(); i++) {
        same = same(e.get(i), a.get(i));
      }
      return same;
    } else if (isNumber(expected) && isNumber(actual)) {
      return near(Long.parseLong(expected.toString()), Long.parseLong(actual.toString()));
    }
    return Objects.equals(expected, actual);
  }

  private static boolean isNumber(Object reply) {
    return reply != null && reply.toString().matches("-?\\d{1,18}");
  }

  /** Times are near each other: lives and deadlines in ms, tokens in microseconds. */
  private static boolean near(long expected, long actual) {
    if (expected < 1_000 || actual < 1_000) {
      return expected == actual;
    }
    long slack = expected > 1e14 ? SLACK_MILLIS * 1_000 : SLACK_MILLIS;
    return Math.abs(expected - actual) <= slack;
  }
}
