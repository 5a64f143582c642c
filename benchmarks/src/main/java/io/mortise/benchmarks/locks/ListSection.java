package io.mortise.benchmarks.locks;

import redis.clients.jedis.Jedis;

/**
 * A token in a list: BLPOP takes it, RPUSH gives it back. No lease, no fencing token, no owner: a
 * process that crashes keeps it for ever. It is the quickest that Redis hands something from one
 * process to the next, and in the order of asking.
 */
public final class ListSection implements Section {
  private static final int WITHOUT_END = 0;
  private static final String TOKEN = "1";

  private final Jedis jedis;
  private final String key;

  ListSection(Jedis jedis, String name) {
    this.jedis = jedis;
    this.key = key(name);
  }

  /** The list, into which somebody has to put one token at the beginning. */
  public static String key(String name) {
    return name + ":token";
  }

  @Override
  public void enter() {
    jedis.blpop(WITHOUT_END, key);
  }

  @Override
  public void leave() {
    jedis.rpush(key, TOKEN);
  }

  @Override
  public void close() {
    jedis.close();
  }
}
