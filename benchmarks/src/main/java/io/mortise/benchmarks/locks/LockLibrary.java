package io.mortise.benchmarks.locks;

import com.fasterxml.jackson.annotation.JsonValue;
import java.time.Duration;
import java.util.List;

/** The libraries that are compared, in the order of the tables. */
public enum LockLibrary {
  MORTISE("mortise", "mortise"),
  REDISSON("redisson", "redisson"),
  /** The baseline: the same work by bare Jedis calls, without an engine. */
  RAW_REDIS("floor", "raw Redis");

  private final String label;
  private final String title;

  LockLibrary(String label, String title) {
    this.label = label;
    this.title = title;
  }

  /** Its name in the JSON. */
  @JsonValue
  public String label() {
    return label;
  }

  /** Its name in tables and charts. */
  public String title() {
    return title;
  }

  /**
   * Connects a client.
   *
   * @param uris of the servers: one, or for {@link LockKind#QUORUM} all
   */
  public Locks open(List<String> uris) {
    return switch (this) {
      case MORTISE -> new MortiseLocks(uris);
      case REDISSON -> new RedissonLocks(uris);
      case RAW_REDIS -> new RawRedisLocks(uris);
    };
  }

  /** Connects one of many clients of this JVM; each has its connections and its id. */
  public Locks openInCrowd(List<String> uris) {
    return this == REDISSON ? RedissonLocks.inCrowd(uris) : open(uris);
  }

  /** Lets many readers hold one lock, as that many holders of the library would. */
  public void fill(String uri, String name, int readers, Duration lease) {
    switch (this) {
      case MORTISE -> ManyHolders.reading(uri, name, readers, lease);
      case REDISSON -> ManyHolders.readingByRedisson(uri, name, readers, lease);
      case RAW_REDIS -> throw new IllegalArgumentException("clients alone are measured");
    }
  }

  /** Lets many wait for a fair lock that somebody holds, each with a place in its queue. */
  public void queue(String uri, String name, int waiters) {
    if (this != MORTISE) {
      throw new IllegalArgumentException("Mortise alone is measured");
    }
    ManyHolders.queued(uri, name, waiters);
  }

  /** Connects a client that holds many locks. */
  public Holds openHolds(String uri, Duration lease) {
    return switch (this) {
      case MORTISE -> new MortiseHolds(uri, lease);
      case REDISSON -> new RedissonHolds(uri, lease);
      case RAW_REDIS -> new RawRedisHolds(uri, lease);
    };
  }
}
