package io.mortise.cli.demo;

/** How two locks are taken. */
enum LockOrder {
  ONE_BY_ONE("two RedisLocks", "oneByOne"),
  TOGETHER("MultiLock", "multiLock");

  private final String words;
  private final String key;

  LockOrder(String words, String key) {
    this.words = words;
    this.key = key;
  }

  /** The same figure as one of this way. */
  Metric figure(Metric figure) {
    return figure.as(key, words);
  }
}
