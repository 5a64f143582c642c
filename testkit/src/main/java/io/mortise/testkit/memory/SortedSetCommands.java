package io.mortise.testkit.memory;

import io.mortise.testkit.memory.SortedSet.Member;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.DoubleBinaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The commands on sorted sets.
 *
 * <p><b>Threads.</b> Guarded by the monitor of the {@link MemoryServer}.
 */
final class SortedSetCommands {
  private final Keyspace keys;

  private SortedSetCommands(Keyspace keys) {
    this.keys = keys;
  }

  static void addTo(CommandTable table, Keyspace keys) {
    SortedSetCommands commands = new SortedSetCommands(keys);
    table.add("ZADD", 3, -1, commands::zadd);
    table.add("ZREM", 2, -1, commands::zrem);
    table.add("ZSCORE", 2, 2, commands::zscore);
    table.add("ZCARD", 1, 1, words -> (long) commands.sorted(words.get(0)).size());
    table.add("ZRANGE", 3, 4, commands::zrange);
    table.add("ZREMRANGEBYSCORE", 3, 3, commands::zremrangebyscore);
    table.add("ZCOUNT", 3, 3, commands::zcount);
    table.add("ZUNIONSTORE", 3, -1, commands::zunionstore);
  }

  private SortedSet sorted(String key) {
    SortedSet set = keys.get(key, SortedSet.class);
    return set == null ? new SortedSet() : set;
  }

  private Long zadd(List<String> words) {
    if (words.size() % 2 == 0) {
      throw RedisError.syntax();
    }
    for (int i = 1; i < words.size(); i += 2) {
      var unused = Words.score(words.get(i)); // before anything is stored
    }
    SortedSet set = keys.getOrCreate(words.get(0), SortedSet.class, SortedSet::new);
    long added = 0;
    for (int i = 1; i < words.size(); i += 2) {
      added += set.put(words.get(i + 1), Words.score(words.get(i))) ? 1 : 0;
    }
    return added;
  }

  private Long zrem(List<String> words) {
    SortedSet set = sorted(words.get(0));
    long removed = words.subList(1, words.size()).stream().filter(set::remove).count();
    keys.deleteIf(words.get(0), set.size() == 0);
    return removed;
  }

  private @Nullable Object zscore(List<String> words) {
    Double score = sorted(words.get(0)).score(words.get(1));
    return score == null ? null : Words.ofNumber(score);
  }

  private List<Object> zrange(List<String> words) {
    boolean withScores = words.size() == 4;
    if (withScores && !words.get(3).toUpperCase(Locale.ROOT).equals("WITHSCORES")) {
      throw RedisError.syntax();
    }
    List<Object> reply = new ArrayList<>();
    for (Member member : CollectionCommands.range(sorted(words.get(0)).members(), words)) {
      reply.add(member.name());
      if (withScores) {
        reply.add(Words.ofNumber(member.score()));
      }
    }
    return reply;
  }

  private Long zcount(List<String> words) {
    return (long) within(words).size();
  }

  /** Returns the members whose scores are in a range. */
  private List<Member> within(List<String> words) {
    double least = Words.score(words.get(1));
    double most = Words.score(words.get(2));
    return sorted(words.get(0)).members().stream()
        .filter(m -> m.score() >= least && m.score() <= most)
        .toList();
  }

  private Long zremrangebyscore(List<String> words) {
    SortedSet set = sorted(words.get(0));
    List<Member> removed = within(words);
    removed.forEach(member -> set.remove(member.name()));
    keys.deleteIf(words.get(0), set.size() == 0);
    return (long) removed.size();
  }

  private Long zunionstore(List<String> words) {
    long count = Words.integer(words.get(1));
    if (count < 1 || count > words.size() - 2) {
      throw RedisError.syntax();
    }
    int sources = (int) count;
    DoubleBinaryOperator aggregate = aggregate(words.subList(2 + sources, words.size()));
    Map<String, Double> union = new HashMap<>();
    for (String key : words.subList(2, 2 + sources)) {
      for (Member member : sorted(key).members()) {
        union.merge(member.name(), member.score(), aggregate::applyAsDouble);
      }
    }
    SortedSet result = new SortedSet();
    union.forEach(result::put);
    keys.replace(words.get(0), result);
    keys.deleteIf(words.get(0), result.size() == 0);
    return (long) result.size();
  }

  private static DoubleBinaryOperator aggregate(List<String> options) {
    if (options.isEmpty()) {
      return Double::sum;
    }
    if (options.size() != 2 || !options.get(0).equalsIgnoreCase("AGGREGATE")) {
      throw RedisError.syntax();
    }
    return switch (options.get(1).toUpperCase(Locale.ROOT)) {
      case "SUM" -> Double::sum;
      case "MAX" -> Math::max;
      case "MIN" -> Math::min;
      default -> throw RedisError.syntax();
    };
  }
}
