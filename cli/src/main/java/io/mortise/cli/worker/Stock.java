package io.mortise.cli.worker;

import com.google.common.io.Resources;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.params.SetParams;

/**
 * The stock that is left: a number in Redis, read with GET and written with SET. A thread that
 * computes between the two needs a lock.
 *
 * <p><b>Threads.</b> Any thread may call any method: the fields are final, and the Jedis client is
 * safe for threads. Only the lock of the callers orders a read and the write after it.
 */
public final class Stock {
  /** The keys expire, in case the demo is killed. */
  private static final int KEY_LIFE_SECONDS = 3600;

  private static final String GUARDED_WRITE = resource("guarded-write.lua");

  private final UnifiedJedis redis;
  private final String key;
  private final String newestTokenKey;

  /** The stock of the lock of that name. */
  public Stock(UnifiedJedis redis, String lockName) {
    this.redis = redis;
    this.key = lockName + ":stock";
    this.newestTokenKey = lockName + ":newest-token";
  }

  /** Reads the stock. */
  public int read() {
    String value = redis.get(key);
    if (value == null) {
      throw new IllegalStateException("the stock is missing: no key '" + key + "'");
    }
    return Integer.parseInt(value);
  }

  /** Overwrites the stock. */
  public void write(int left) {
    redis.set(key, Integer.toString(left), SetParams.setParams().ex(KEY_LIFE_SECONDS));
  }

  /**
   * Overwrites the stock, unless it was written with a larger fencing token before.
   *
   * @return false if the write was refused
   */
  public boolean write(int left, long token) {
    Object written =
        redis.eval(
            GUARDED_WRITE,
            List.of(key, newestTokenKey),
            List.of(Integer.toString(left), Long.toString(token), "" + KEY_LIFE_SECONDS));
    return Long.valueOf(1).equals(written);
  }

  /** Returns the largest token of a write; 0 before the first write with a token. */
  public long newestToken() {
    String token = redis.get(newestTokenKey);
    return token == null ? 0 : Long.parseLong(token);
  }

  /** Removes all keys. */
  public void remove() {
    redis.del(key, newestTokenKey);
  }

  private static String resource(String name) {
    try {
      return Resources.toString(Resources.getResource(Stock.class, name), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
