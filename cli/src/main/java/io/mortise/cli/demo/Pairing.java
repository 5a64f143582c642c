package io.mortise.cli.demo;

/** How two locks are taken. */
enum Pairing {
  ONE_BY_ONE("two RedisLocks", "oneByOne"),
  TOGETHER("MultiLock", "multiLock");

  private final String words;
  private final String key;

  Pairing(String words, String key) {
    this.words = words;
    this.key = key;
  }

  /** The same figure as one of this way. */
  Figure figure(Figure figure) {
    return figure.as(key, words);
  }
}
