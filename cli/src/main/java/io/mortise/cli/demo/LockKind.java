package io.mortise.cli.demo;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;

/** The locks that are compared. */
enum LockKind {
  PLAIN("RedisLock", "redisLock"),
  FAIR("RedisFairLock", "fairLock");

  private final String words;
  private final String key;

  LockKind(String words, String key) {
    this.words = words;
    this.key = key;
  }

  DistributedLock lock(LockClient client, String name) {
    return this == FAIR ? new RedisFairLock(client, name) : new RedisLock(client, name);
  }

  /** For people. */
  String words() {
    return words;
  }

  /** The same figure as one of this lock. */
  Metric figure(Metric figure) {
    return figure.as(key, words);
  }
}
