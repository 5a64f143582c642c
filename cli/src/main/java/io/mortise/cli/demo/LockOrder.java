package io.mortise.cli.demo;

/** The ways to take two locks. */
enum LockOrder {
  ONE_BY_ONE("two RedisLocks", "oneByOne"),
  TOGETHER("MultiLock", "multiLock");

  private final String title;
  private final String key;

  LockOrder(String title, String key) {
    this.title = title;
    this.key = key;
  }

  /** Returns the figure as one of this way. */
  Metric figure(Metric figure) {
    return figure.as(key, title);
  }
}
