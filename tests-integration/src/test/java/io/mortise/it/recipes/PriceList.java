package io.mortise.it.recipes;

import io.mortise.core.LockClient;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;
import redis.clients.jedis.AbstractTransaction;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.params.SetParams;

/** A recipe of docs/recipes.md: a cache that many read and one refreshes. */
final class PriceList {
  private static final String PRICES = "prices";
  private static final String FRESH = "prices:fresh";

  private final RedisReadWriteLock lock;
  private final UnifiedJedis redis;
  private final Supplier<Map<String, String>> source;
  private final Duration life;

  PriceList(
      LockClient locks, UnifiedJedis redis, Supplier<Map<String, String>> source, Duration life) {
    this.lock = new RedisReadWriteLock(locks, "price-list");
    this.redis = redis;
    this.source = source;
    this.life = life;
  }

  // snippet: prices
  /** Returns all prices, of one refresh. */
  Map<String, String> prices() {
    lock.readLock().lock(); // together with the readers of all nodes
    try {
      if (redis.exists(FRESH)) {
        return redis.hgetAll(PRICES);
      }
    } finally {
      lock.readLock().unlock(); // a reader cannot become the writer
    }
    lock.writeLock().lock();
    try {
      if (!redis.exists(FRESH)) { // no other node was quicker
        Map<String, String> prices = source.get();
        lock.writeLock().lease().ensureValid(); // that may have taken longer than the lease
        try (AbstractTransaction refresh = redis.multi()) {
          refresh.del(PRICES);
          refresh.hset(PRICES, prices);
          refresh.set(FRESH, "yes", SetParams.setParams().px(life.toMillis()));
          refresh.exec();
        }
      }
      return redis.hgetAll(PRICES);
    } finally {
      lock.writeLock().unlock();
    }
  }
  // end
}
