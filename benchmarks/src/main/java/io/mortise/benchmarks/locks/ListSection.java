package io.mortise.benchmarks.locks;

import redis.clients.jedis.Jedis;

/**
 * A section by a token in a list: BLPOP takes it, RPUSH gives it back. It has no lease, no fencing
 * token and no owner: a process that crashes keeps it for ever. It is the fastest hand-off between
 * processes that Redis has, in the order of requests.
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

  /** The key of the list, which needs one token at the beginning. */
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
}
