package io.mortise.benchmarks.locks;

import com.fasterxml.jackson.annotation.JsonValue;
import java.time.Duration;
import java.util.List;

/** The libraries that are compared, in the order in which they are measured. */
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

  /** Connects a client that holds many locks. */
  public Holds openHolds(String uri, Duration lease) {
    return switch (this) {
      case MORTISE -> new MortiseHolds(uri, lease);
      case REDISSON -> new RedissonHolds(uri, lease);
      case RAW_REDIS -> new RawRedisHolds(uri, lease);
    };
  }
}
