package io.mortise.it.memory;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import io.mortise.scripts.Script;
import io.mortise.testkit.InMemoryRedis;
import io.mortise.testkit.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.util.SafeEncoder;

/**
 * A Redis in memory answers as a real one, and has the same keys afterwards: random sequences of
 * the scripts of all lock families, on both. {@code -Dmortise.memory.seed=1} repeats a run, {@code
 * -Dmortise.memory.sequences} says how many.
 */
@Timeout(300)
@Tag("alone") // a stall makes keys expire on one side only
@Execution(ExecutionMode.CONCURRENT)
class SameAsRedisTest {
  private static final long SEED = Long.getLong("mortise.memory.seed", System.nanoTime());
  private static final int SEQUENCES = Integer.getInteger("mortise.memory.sequences", 10_000);
  private static final int CALLS = 10;

  /** The largest difference of the two clocks and of the moments of the two calls. */
  private static final long SLACK_MILLIS = 20_000;

  /** Numbers below this one are counts. */
  private static final long COUNTS = 20;

  /**
   * The shortest life that a script gives, the turn of readers, is twice this one. A sequence that
   * took longer shows nothing: in it keys may have expired on one side only.
   */
  private static final long SHORT_MILLIS = 250;

  private Jedis real;
  private InMemoryRedis memory;

  /** In two halves beside each other, on servers of their own. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void tenThousandSequencesOfScriptsGiveTheSame(int half) {
    try (RedisServer server = RedisServer.start();
        Jedis jedis = new Jedis(server.host(), server.port(), 10_000);
        InMemoryRedis inMemory = InMemoryRedis.start()) {
      real = jedis;
      memory = inMemory;
      for (Script script : RandomCalls.SCRIPTS) {
        String text = new String(script.text(), UTF_8);
        assertEquals(jedis.scriptLoad(text), inMemory.command("SCRIPT", "LOAD", text));
      }
      for (int i = half; i < SEQUENCES; i += 2) {
        quickSequence(SEED + i);
        if (i % 40 == half) {
          real.flushAll();
          memory.command("FLUSHALL");
        }
      }
    }
  }

  /**
   * Runs a sequence; if the sides differ, again on other names, with each call in a millisecond of
   * its own. Otherwise two readers may end in the same one on one side only, and then either may be
   * the last. Once more if the machine has held that up.
   */
  private void quickSequence(long seed) {
    String prefix = "s" + Long.toHexString(seed) + "-";
    try {
      sequence(seed, prefix + 0, false);
      return;
    } catch (AssertionError e) {
      System.out.println("repeated: " + e.getMessage());
    }
    for (int attempt = 1; ; attempt++) {
      long beganNanos = System.nanoTime();
      try {
        sequence(seed, prefix + attempt, true);
        return;
      } catch (AssertionError e) {
        if (System.nanoTime() - beganNanos < SHORT_MILLIS * 1_000_000 || attempt == 20) {
          throw e;
        }
      }
    }
  }

  private static void awaitNextMillisecond() {
    long afterMillis = System.currentTimeMillis() + 1;
    while (System.currentTimeMillis() <= afterMillis) {
      Thread.onSpinWait();
    }
  }

  private void sequence(long seed, String prefix, boolean apart) {
    RandomCalls calls = new RandomCalls(new Random(seed), prefix);
    List<String> history = new ArrayList<>();
    for (int i = 0; i < CALLS; i++) {
      List<String> words = calls.next();
      if (apart) {
        awaitNextMillisecond();
      }
      history.add(String.join(" ", words));
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
    assertSame(List.of("TYPE", key), UnaryOperator.identity(), seed, history);
    assertSame(List.of("PTTL", key), UnaryOperator.identity(), seed, history);
    switch (String.valueOf(onRedis(List.of("TYPE", key)))) {
      case "hash" -> assertSame(List.of("HGETALL", key), SameAsRedisTest::byName, seed, history);
      case "list" ->
          assertSame(List.of("LRANGE", key, "0", "-1"), UnaryOperator.identity(), seed, history);
      case "set" -> assertSame(List.of("SMEMBERS", key), SameAsRedisTest::sorted, seed, history);
      case "zset" ->
          assertSame(
              List.of("ZRANGE", key, "0", "-1", "WITHSCORES"),
              SameAsRedisTest::byName,
              seed,
              history);
      default -> assertSame(List.of("GET", key), UnaryOperator.identity(), seed, history);
    }
  }

  /** The two answers are the same in that form. */
  private void assertSame(
      List<String> question, UnaryOperator<Object> form, long seed, List<String> history) {
    Object expected = onRedis(question);
    Object actual = inMemory(question);
    if (!same(form.apply(expected), form.apply(actual))) {
      fail(
          "seed %d: %s; then %s: Redis answers %s, the one in memory %s"
              .formatted(seed, history, question, expected, actual));
    }
  }

  private static Object sorted(Object members) {
    return strings(members).stream().sorted().toList();
  }

  /** Fields with their values, or members with their scores: two times may be in either order. */
  private static Object byName(Object pairs) {
    List<String> all = strings(pairs);
    TreeMap<String, String> sorted = new TreeMap<>();
    for (int i = 0; i + 1 < all.size(); i += 2) {
      sorted.put(all.get(i), all.get(i + 1));
    }
    return sorted.entrySet().stream()
        .flatMap(entry -> Stream.<Object>of(entry.getKey(), entry.getValue()))
        .toList();
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
      return Stream.of("WRONGTYPE", "LOCKTYPE", "OOM", "unknown command")
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
    } else if (isNumber(expected) && isNumber(actual) && expected.getClass() == actual.getClass()) {
      return near(Long.parseLong(expected.toString()), Long.parseLong(actual.toString()));
    }
    return Objects.equals(expected, actual);
  }

  private static boolean isNumber(Object reply) {
    return reply != null && reply.toString().matches("-?\\d{1,18}");
  }

  /** Times are near each other: lives and deadlines in ms, tokens in microseconds. */
  private static boolean near(long expected, long actual) {
    if (Math.min(expected, actual) < COUNTS) {
      return expected == actual;
    } else if (Math.max(expected, actual) < 1_000) {
      return Math.abs(expected - actual) <= SHORT_MILLIS;
    }
    long slack = expected > 1e14 ? SLACK_MILLIS * 1_000 : SLACK_MILLIS;
    return Math.abs(expected - actual) <= slack;
  }
}
