package io.mortise.cli.worker;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.params.SetParams;

/**
 * How many are left: a number in Redis, read with GET and written with SET, so that whoever
 * computes between the two needs a lock around them.
 */
public final class Stock {
  /** The keys go by themselves, should the demo be killed. */
  private static final int KEY_LIFE_SECONDS = 3600;

  private static final String GUARDED_WRITE = resource("guarded-write.lua");

  private final UnifiedJedis redis;
  private final String key;
  private final String newestTokenKey;

  /** The stock that is protected by the lock of that name. */
  public Stock(UnifiedJedis redis, String lockName) {
    this.redis = redis;
    this.key = lockName + ":stock";
    this.newestTokenKey = lockName + ":newest-token";
  }

  /** What is left. */
  public int read() {
    String value = redis.get(key);
    if (value == null) {
      throw new IllegalStateException("the stock is gone: nobody set key '" + key + "'");
    }
    return Integer.parseInt(value);
  }

  /** Overwrites what is there. */
  public void write(int left) {
    redis.set(key, Integer.toString(left), SetParams.setParams().ex(KEY_LIFE_SECONDS));
  }

  /**
   * Overwrites what is there, unless it was written with a larger fencing token before.
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

  /** The largest token with which it was written; 0 before the first guarded write. */
  public long newestToken() {
    String token = redis.get(newestTokenKey);
    return token == null ? 0 : Long.parseLong(token);
  }

  /** Leaves nothing behind. */
  public void remove() {
    redis.del(key, newestTokenKey);
  }

  private static String resource(String name) {
    try (InputStream in = Stock.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("not in the jar: " + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
