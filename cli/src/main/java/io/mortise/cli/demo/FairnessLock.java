package io.mortise.cli.demo;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;

/** The kinds of locks that the demo compares. */
enum FairnessLock {
  PLAIN("RedisLock", "redisLock"),
  FAIR("RedisFairLock", "fairLock");

  private final String title;
  private final String key;

  FairnessLock(String title, String key) {
    this.title = title;
    this.key = key;
  }

  DistributedLock lock(LockClient client, String name) {
    return this == FAIR ? new RedisFairLock(client, name) : new RedisLock(client, name);
  }

  /** Its name on the page. */
  String title() {
    return title;
  }

  /** Returns the figure as one of this lock. */
  Metric figure(Metric figure) {
    return figure.as(key, title);
  }
}
