package io.mortise.cli.worker;

import com.google.common.base.Joiner;
import com.google.common.base.Splitter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import redis.clients.jedis.UnifiedJedis;

/**
 * A stock in parts, and the list of its sales. Redis has a hash with what is left of each part,
 * read with HGET and written with HSET, and a list to which each sale is appended. A thread that
 * computes between reading and writing needs the lock of the part.
 */
public final class SplitStock {
  /** The keys expire, in case the demo is killed. */
  private static final int KEY_LIFE_SECONDS = 3600;

  private static final Joiner FIELDS = Joiner.on(' ');
  private static final Splitter FIELD = Splitter.on(' ');

  private final UnifiedJedis redis;
  private final String leftKey;
  private final String salesKey;

  /**
   * A sale, by the thread that made it. Parts count from 0.
   *
   * @param article the number of the article in its part: what was left before the sale
   * @param token the fencing token of the lock
   * @param enteredNanos when the thread had the lock
   * @param leftNanos when it had written what is left
   */
  public record Sale(
      int part, int article, int thread, long token, long enteredNanos, long leftNanos) {

    private static Sale parse(String line) {
      List<String> fields = FIELD.splitToList(line);
      return new Sale(
          Integer.parseInt(fields.get(0)),
          Integer.parseInt(fields.get(1)),
          Integer.parseInt(fields.get(2)),
          Long.parseLong(fields.get(3)),
          Long.parseLong(fields.get(4)),
          Long.parseLong(fields.get(5)));
    }

    private String line() {
      return FIELDS.join(part, article, thread, token, enteredNanos, leftNanos);
    }
  }

  /** The stock whose locks have names that begin with this. */
  public SplitStock(UnifiedJedis redis, String lockName) {
    this.redis = redis;
    this.leftKey = lockName + ":parts";
    this.salesKey = lockName + ":sales";
  }

  /** Splits this many articles into equal parts, and forgets all sales; a rest is not for sale. */
  public void reset(int articles, int parts) {
    Map<String, String> left = new HashMap<>();
    for (int i = 0; i < parts; i++) {
      left.put(Integer.toString(i), Integer.toString(articles / parts));
    }
    remove();
    redis.hset(leftKey, left);
    redis.expire(leftKey, KEY_LIFE_SECONDS);
  }

  /** Reads what is left of a part. */
  public int read(int part) {
    String left = redis.hget(leftKey, Integer.toString(part));
    if (left == null) {
      throw new IllegalStateException(
          "the stock is missing: no field '%d' in key '%s'".formatted(part, leftKey));
    }
    return Integer.parseInt(left);
  }

  /** Overwrites what is left of a part. */
  public void write(int part, int left) {
    redis.hset(leftKey, Integer.toString(part), Integer.toString(left));
  }

  /** Appends a sale to the list. */
  public void add(Sale sale) {
    if (redis.rpush(salesKey, sale.line()) == 1) {
      redis.expire(salesKey, KEY_LIFE_SECONDS);
    }
  }

  /** Returns what is left of all parts. */
  public int left() {
    return redis.hvals(leftKey).stream().mapToInt(Integer::parseInt).sum();
  }

  /** Returns all sales, in the order in which they were appended. */
  public List<Sale> sales() {
    return redis.lrange(salesKey, 0, -1).stream().map(Sale::parse).toList();
  }

  /** Removes all keys. */
  public void remove() {
    redis.del(leftKey, salesKey);
  }
}
