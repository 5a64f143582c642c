package io.mortise.testkit.memory;

import static io.mortise.testkit.memory.Replies.OK;

import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The commands on keys of any type, and on strings.
 *
 * <p><b>Threads.</b> Guarded by the monitor of the {@link MemoryServer}.
 */
final class KeyCommands {
  private final Keyspace keys;

  private KeyCommands(Keyspace keys) {
    this.keys = keys;
  }

  static void addTo(CommandTable table, Keyspace keys) {
    KeyCommands commands = new KeyCommands(keys);
    table.add("EXISTS", 1, -1, words -> count(words, key -> keys.exists(key) ? 1 : 0));
    table.add("DEL", 1, -1, words -> count(words, key -> keys.delete(key) ? 1 : 0));
    table.add("UNLINK", 1, -1, words -> count(words, key -> keys.delete(key) ? 1 : 0));
    table.add("TYPE", 1, 1, words -> new Replies.Status(keys.typeOf(words.get(0))));
    table.add("KEYS", 1, 1, words -> commands.matching(words.get(0)));
    table.add("SCAN", 1, -1, commands::scan);
    table.add("DBSIZE", 0, 0, words -> (long) keys.keys().size());
    table.add("PTTL", 1, 1, words -> keys.ttlMillis(words.get(0)));
    table.add("TTL", 1, 1, words -> seconds(keys.ttlMillis(words.get(0))));
    table.add("PEXPIRE", 2, 2, words -> commands.expire(words, 1));
    table.add("EXPIRE", 2, 2, words -> commands.expire(words, 1_000));
    table.add("PEXPIREAT", 2, 2, commands::expireAt);
    table.add("PERSIST", 1, 1, words -> keys.persist(words.get(0)) ? 1L : 0L);
    table.add("TIME", 0, 0, words -> commands.time());
    table.add("GET", 1, 1, words -> keys.get(words.get(0), String.class));
    table.add("SET", 2, -1, commands::set);
    table.add("STRLEN", 1, 1, words -> (long) commands.string(words.get(0)).length());
    table.add("INCR", 1, 1, words -> commands.increment(words.get(0), 1));
    table.add("DECR", 1, 1, words -> commands.increment(words.get(0), -1));
    table.add(
        "INCRBY", 2, 2, words -> commands.increment(words.get(0), Words.integer(words.get(1))));
  }

  private static Long count(List<String> keys, ToLongFunction<String> of) {
    return keys.stream().mapToLong(of).sum();
  }

  private static Long seconds(long millis) {
    return millis < 0 ? millis : (millis + 500) / 1_000;
  }

  private String string(String key) {
    String value = keys.get(key, String.class);
    return value == null ? "" : value;
  }

  private Long increment(String key, long by) {
    String before = keys.get(key, String.class);
    long sum;
    try {
      sum = Math.addExact(before == null ? 0 : Words.integer(before), by);
    } catch (ArithmeticException e) {
      throw new RedisError("ERR increment or decrement would overflow");
    }
    long ttl = keys.ttlMillis(key);
    keys.set(key, Long.toString(sum));
    if (ttl >= 0) {
      keys.expireAt(key, keys.nowMillis() + ttl);
    }
    return sum;
  }

  private List<Object> time() {
    long micros = keys.nowMicros();
    return List.of(Long.toString(micros / 1_000_000), Long.toString(micros % 1_000_000));
  }

  private Long expire(List<String> words, long millisEach) {
    long millis = Words.integer(words.get(1)) * millisEach;
    return keys.expireAt(words.get(0), keys.nowMillis() + millis) ? 1L : 0L;
  }

  private Long expireAt(List<String> words) {
    return keys.expireAt(words.get(0), Words.integer(words.get(1))) ? 1L : 0L;
  }

  private @Nullable Object set(List<String> words) {
    String key = words.get(0);
    boolean ifAbsent = false;
    boolean ifPresent = false;
    boolean keepTtl = false;
    long lifeMillis = -1;
    for (int i = 2; i < words.size(); i++) {
      String option = words.get(i).toUpperCase(Locale.ROOT);
      if (option.equals("NX")) {
        ifAbsent = true;
      } else if (option.equals("XX")) {
        ifPresent = true;
      } else if (option.equals("KEEPTTL")) {
        keepTtl = true;
      } else if ((option.equals("PX") || option.equals("EX")) && i + 1 < words.size()) {
        lifeMillis = Words.integer(words.get(++i)) * (option.equals("EX") ? 1_000 : 1);
        if (lifeMillis <= 0) {
          throw new RedisError("ERR invalid expire time in 'set' command");
        }
      } else {
        throw RedisError.syntax();
      }
    }
    if ((ifAbsent && keys.exists(key)) || (ifPresent && !keys.exists(key))) {
      return null;
    }
    long ttl = keepTtl ? keys.ttlMillis(key) : lifeMillis;
    keys.set(key, words.get(1));
    if (ttl >= 0) {
      keys.expireAt(key, keys.nowMillis() + ttl);
    }
    return OK;
  }

  private List<String> matching(String glob) {
    Pattern pattern = GlobPattern.compile(glob);
    return keys.keys().stream().filter(key -> pattern.matcher(key).matches()).toList();
  }

  private List<Object> scan(List<String> words) {
    ScanOptions options = ScanOptions.ofKeys(words);
    return ScanOptions.reply(
        keys.keys().stream()
            .filter(key -> options.matches(key) && options.isOfType(keys.typeOf(key)))
            .toList());
  }

  static Replies.Status clear(Keyspace keys) {
    keys.clear();
    return OK;
  }
}
