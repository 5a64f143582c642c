package io.mortise.cli.demo;

/** The ways to lock a stock: with one lock for all of it, or with a lock for each part. */
enum StockDivision {
  WHOLE("RedisLock", "redisLock", 1),
  SEGMENTS("SegmentedLock", "segmentedLock", 5);

  private final String title;
  private final String key;
  private final int parts;

  StockDivision(String title, String key, int parts) {
    this.title = title;
    this.key = key;
    this.parts = parts;
  }

  /** The number of parts, each with a lock. */
  int parts() {
    return parts;
  }

  /** Its name on the page. */
  String title() {
    return title;
  }

  /** Returns the figure as one of this way. */
  Metric figure(Metric figure) {
    return figure.as(key, title);
  }
}
