package io.mortise.testkit.memory;

import io.mortise.testkit.memory.Keyspace.Hash;
import io.mortise.testkit.memory.Keyspace.ListValue;
import io.mortise.testkit.memory.Keyspace.SetValue;
import java.util.Collections;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The commands on hashes, lists and sets.
 *
 * <p><b>Threads.</b> Guarded by the monitor of the {@link MemoryServer}.
 */
final class CollectionCommands {
  private final Keyspace keys;

  private CollectionCommands(Keyspace keys) {
    this.keys = keys;
  }

  static void addTo(CommandTable table, Keyspace keys) {
    CollectionCommands commands = new CollectionCommands(keys);
    table.add("HSET", 3, -1, commands::hset);
    table.add("HGET", 2, 2, words -> commands.hash(words.get(0)).get(words.get(1)));
    table.add(
        "HEXISTS", 2, 2, words -> commands.hash(words.get(0)).containsKey(words.get(1)) ? 1L : 0L);
    table.add("HDEL", 2, -1, commands::hdel);
    table.add("HLEN", 1, 1, words -> (long) commands.hash(words.get(0)).size());
    table.add("HKEYS", 1, 1, words -> List.copyOf(commands.hash(words.get(0)).keySet()));
    table.add("HVALS", 1, 1, words -> List.copyOf(commands.hash(words.get(0)).values()));
    table.add("HGETALL", 1, 1, words -> commands.hgetall(words.get(0)));
    table.add("HSCAN", 2, -1, commands::hscan);
    table.add("HRANDFIELD", 3, 3, commands::hrandfield);
    table.add("HINCRBY", 3, 3, commands::hincrby);
    table.add("RPUSH", 2, -1, words -> commands.push(words, false));
    table.add("LPUSH", 2, -1, words -> commands.push(words, true));
    table.add("LPOP", 1, 1, words -> commands.pop(words.get(0), true));
    table.add("RPOP", 1, 1, words -> commands.pop(words.get(0), false));
    table.add("LLEN", 1, 1, words -> (long) commands.list(words.get(0)).size());
    table.add("LINDEX", 2, 2, commands::lindex);
    table.add("LRANGE", 3, 3, words -> range(commands.list(words.get(0)), words));
    table.add("LREM", 3, 3, commands::lrem);
    table.add("LPOS", 2, 4, commands::lpos);
    table.add("SADD", 2, -1, commands::sadd);
    table.add("SREM", 2, -1, commands::srem);
    table.add("SCARD", 1, 1, words -> (long) commands.set(words.get(0)).size());
    table.add(
        "SISMEMBER", 2, 2, words -> commands.set(words.get(0)).contains(words.get(1)) ? 1L : 0L);
    table.add("SMEMBERS", 1, 1, words -> List.copyOf(commands.set(words.get(0))));
  }

  private Hash hash(String key) {
    Hash hash = keys.get(key, Hash.class);
    return hash == null ? new Hash() : hash;
  }

  private ListValue list(String key) {
    ListValue list = keys.get(key, ListValue.class);
    return list == null ? new ListValue() : list;
  }

  private SetValue set(String key) {
    SetValue set = keys.get(key, SetValue.class);
    return set == null ? new SetValue() : set;
  }

  // ---- hashes

  private Long hset(List<String> words) {
    if (words.size() % 2 == 0) {
      throw new RedisError("ERR wrong number of arguments for 'hset' command");
    }
    Hash hash = keys.getOrCreate(words.get(0), Hash.class, Hash::new);
    int before = hash.size();
    for (int i = 1; i < words.size(); i += 2) {
      hash.put(words.get(i), words.get(i + 1));
    }
    return (long) hash.size() - before;
  }

  private Long hdel(List<String> words) {
    Hash hash = hash(words.get(0));
    int before = hash.size();
    words.subList(1, words.size()).forEach(hash::remove);
    keys.deleteIf(words.get(0), hash.isEmpty());
    return (long) before - hash.size();
  }

  private List<String> hgetall(String key) {
    return pairs(hash(key), field -> true);
  }

  private List<Object> hscan(List<String> words) {
    ScanOptions options = ScanOptions.ofFields(words.subList(1, words.size()));
    return ScanOptions.reply(pairs(hash(words.get(0)), options::matches));
  }

  private static List<String> pairs(Hash hash, Predicate<String> which) {
    return hash.entrySet().stream()
        .filter(entry -> which.test(entry.getKey()))
        .flatMap(entry -> Stream.of(entry.getKey(), entry.getValue()))
        .toList();
  }

  /** Returns the first fields: which ones a server returns is left to it. */
  private List<String> hrandfield(List<String> words) {
    if (!words.get(2).equalsIgnoreCase("WITHVALUES")) {
      throw RedisError.syntax();
    }
    List<String> all = hgetall(words.get(0));
    long most = 2 * Math.max(0, Words.integer(words.get(1)));
    return List.copyOf(all.subList(0, (int) Math.min(most, all.size())));
  }

  private Long hincrby(List<String> words) {
    long by = Words.integer(words.get(2));
    Hash hash = hash(words.get(0));
    String before = hash.getOrDefault(words.get(1), "0");
    long sum;
    try {
      sum = Math.addExact(Long.parseLong(before), by);
    } catch (NumberFormatException e) {
      throw new RedisError("ERR hash value is not an integer");
    } catch (ArithmeticException e) {
      throw new RedisError("ERR increment or decrement would overflow");
    }
    keys.getOrCreate(words.get(0), Hash.class, Hash::new).put(words.get(1), Long.toString(sum));
    return sum;
  }

  // ---- lists

  private Long push(List<String> words, boolean atHead) {
    ListValue list = keys.getOrCreate(words.get(0), ListValue.class, ListValue::new);
    for (String item : words.subList(1, words.size())) {
      list.add(atHead ? 0 : list.size(), item);
    }
    return (long) list.size();
  }

  private @Nullable Object pop(String key, boolean fromHead) {
    ListValue list = list(key);
    if (list.isEmpty()) {
      return null;
    }
    String item = list.remove(fromHead ? 0 : list.size() - 1);
    keys.deleteIf(key, list.isEmpty());
    return item;
  }

  private @Nullable Object lindex(List<String> words) {
    ListValue list = list(words.get(0));
    int index = Words.index(words.get(1), list.size());
    return index < 0 || index >= list.size() ? null : list.get(index);
  }

  static <T> List<T> range(List<T> items, List<String> words) {
    int from = Math.max(0, Words.index(words.get(1), items.size()));
    int to = Math.min(items.size() - 1, Words.index(words.get(2), items.size()));
    return from > to ? List.of() : List.copyOf(items.subList(from, to + 1));
  }

  private Long lrem(List<String> words) {
    long count = Words.integer(words.get(1));
    ListValue list = list(words.get(0));
    long most = count == 0 ? Long.MAX_VALUE : Math.abs(count);
    if (count < 0) {
      Collections.reverse(list);
    }
    long removed = removeFirst(list, words.get(2)::equals, most);
    if (count < 0) {
      Collections.reverse(list);
    }
    keys.deleteIf(words.get(0), list.isEmpty());
    return removed;
  }

  private static long removeFirst(ListValue list, Predicate<String> which, long most) {
    long[] removed = {0};
    list.removeIf(item -> removed[0] < most && which.test(item) && ++removed[0] > 0);
    return removed[0];
  }

  /** Returns the first position of an item, among all items or the first MAXLEN. */
  private @Nullable Object lpos(List<String> words) {
    long most = words.size() == 2 ? 0 : maxlen(words.subList(2, words.size()));
    int index = list(words.get(0)).indexOf(words.get(1));
    return index < 0 || (most > 0 && index >= most) ? null : (long) index;
  }

  private static long maxlen(List<String> option) {
    if (option.size() != 2 || !option.get(0).equalsIgnoreCase("MAXLEN")) {
      throw RedisError.syntax();
    }
    long most = Words.integer(option.get(1));
    if (most < 0) {
      throw new RedisError("ERR MAXLEN can't be negative");
    }
    return most;
  }

  // ---- sets

  private Long sadd(List<String> words) {
    SetValue set = keys.getOrCreate(words.get(0), SetValue.class, SetValue::new);
    int before = set.size();
    set.addAll(words.subList(1, words.size()));
    return (long) set.size() - before;
  }

  private Long srem(List<String> words) {
    SetValue set = set(words.get(0));
    int before = set.size();
    words.subList(1, words.size()).forEach(set::remove);
    keys.deleteIf(words.get(0), set.isEmpty());
    return (long) before - set.size();
  }
}
