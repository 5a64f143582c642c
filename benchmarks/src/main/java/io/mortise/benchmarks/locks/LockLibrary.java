package io.mortise.benchmarks.locks;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** Who is measured. In this order they take their turns. */
public enum LockLibrary {
  MORTISE,
  REDISSON,
  /** The same work by bare Jedis calls, without an engine. */
  FLOOR;

  /** As it stands in the JSON. */
  @JsonValue
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
