package io.mortise.it.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.testkit.InMemoryRedis;
import io.mortise.testkit.RedisServer;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;

/** KEYS, SCAN and HSCAN find the same in a Redis in memory as in a real one. */
@Timeout(120)
class SameKeysFoundTest {
  private static final String LITERALS = "abc-]^[\\";
  private static final String PATTERNS = "aabbcc--]]^[[\\**??";

  private static RedisServer real;

  private final InMemoryRedis memory = InMemoryRedis.start();

  @BeforeAll
  static void start() {
    real = RedisServer.start();
  }

  @AfterAll
  static void stop() {
    real.close();
  }

  @AfterEach
  void clear() {
    memory.close();
    real.command("FLUSHALL");
  }

  private static String word(Random random, String characters, int maxLength) {
    return random
        .ints(1 + random.nextInt(maxLength), 0, characters.length())
        .mapToObj(i -> characters.substring(i, i + 1))
        .collect(Collectors.joining());
  }

  private void both(String... words) {
    real.command(words);
    memory.command(words);
  }

  private static Set<String> sorted(Object keys) {
    return ((List<?>) keys)
        .stream().map(String::valueOf).collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void randomPatternsMatchTheSameKeys() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int i = 0; i < 300; i++) {
      both("SET", word(random, LITERALS, 4), "1");
    }
    int found = 0;
    try (Jedis jedis = new Jedis(real.host(), real.port(), 10_000)) {
      for (int i = 0; i < 3_000; i++) {
        String pattern = word(random, PATTERNS, 8);

        Set<String> expected = new TreeSet<>(jedis.keys(pattern));

        assertEquals(
            expected, sorted(memory.command("KEYS", pattern)), () -> pattern + ", seed " + seed);
        found += expected.isEmpty() ? 0 : 1;
      }
    }
    assertTrue(found > 300, "only " + found + " patterns match a key");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "h[ae]llo",
        "h[^e]llo",
        "h[a-c]llo",
        "h[c-a]llo",
        "h\\[ae]llo",
        "h[\\]^]llo",
        "h[^]llo",
        "h[a-]llo",
        "h[]llo",
        "h[",
        "h[^",
        "h\\",
        "h[a\\-c]llo",
        "h*o",
        "h?llo",
        "*",
        "h[a-\\]llo"
      })
  void patternsThatArePeculiarMatchTheSameKeys(String pattern) {
    for (String key :
        List.of("hallo", "hbllo", "hello", "hillo", "h[ae]llo", "h]llo", "h^llo", "h-llo", "h\\")) {
      both("SET", key, "1");
    }

    assertEquals(sorted(real.command("KEYS", pattern)), sorted(memory.command("KEYS", pattern)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"string", "list", "set", "zset", "HASH"})
  void aScanForATypeFindsItsKeysAlone(String type) {
    both("SET", "a:string", "1");
    both("RPUSH", "a:list", "1");
    both("SADD", "a:set", "1");
    both("ZADD", "a:zset", "1", "m");
    both("HSET", "a:hash", "f", "1");
    both("HSET", "b:hash", "f", "1");

    String[] scan = {"SCAN", "0", "MATCH", "[a]:*", "COUNT", "1000", "TYPE", type};

    Object expected = real.command(scan);
    assertEquals(1, sorted(((List<?>) expected).get(1)).size());
    assertEquals(expected, memory.command(scan));
  }

  /** Of a few fields a server returns all too, in the order in which they came. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "HSCAN a:hash 0",
        "hscan a:hash 0 match [ac] count 2",
        "HSCAN a:hash 0 MATCH z",
        "HSCAN none 0"
      })
  void aScanOfAHashFindsItsFields(String scan) {
    both("HSET", "a:hash", "a", "1", "b", "2", "c", "3", "d", "4");

    assertEquals(real.command(scan.split(" ")), memory.command(scan.split(" ")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SCAN 0 MATCH",
        "SCAN 0 BOGUS 1",
        "SCAN 0 COUNT 0",
        "SCAN 0 COUNT x",
        "SCAN x",
        "HSCAN a:hash 0 MATCH",
        "HSCAN a:hash 0 COUNT 0",
        "HSCAN a:hash 0 TYPE hash",
        "HSCAN a:hash x",
        "HSCAN a:string 0"
      })
  void aScanThatIsWrongIsRefusedWithTheSameError(String scan) {
    both("SET", "a:string", "1");
    both("HSET", "a:hash", "f", "1");
    String expected = String.valueOf(error(() -> real.command(scan.split(" "))).getMessage());

    IllegalArgumentException refused =
        assertThrows(IllegalArgumentException.class, () -> memory.command(scan.split(" ")));

    assertEquals(expected, refused.getMessage());
  }

  private static RuntimeException error(Runnable command) {
    return assertThrows(RuntimeException.class, command::run);
  }
}
