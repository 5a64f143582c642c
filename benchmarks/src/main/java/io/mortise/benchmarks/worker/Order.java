package io.mortise.benchmarks.worker;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;

/** What a worker is told, a line of JSON each. It answers each with a {@link Report}. */
@JsonTypeInfo(use = JsonTypeInfo.Id.SIMPLE_NAME, property = "order")
@JsonSubTypes({
  @JsonSubTypes.Type(Order.Cycle.class),
  @JsonSubTypes.Type(Order.Take.class),
  @JsonSubTypes.Type(Order.Keep.class),
  @JsonSubTypes.Type(Order.Count.class),
  @JsonSubTypes.Type(Order.Wait.class),
  @JsonSubTypes.Type(Order.Weigh.class)
})
public sealed interface Order {

  /**
   * Cycles from a moment on, for a time; who is in the middle of one then ends it.
   *
   * @param startNanos by {@link System#nanoTime()}, which all processes of a machine share
   */
  record Cycle(Work work, long startNanos, long nanos) implements Order {}

  /** Takes so many locks, and keeps them, renewed. Answers when it has them. */
  record Take(String prefix, int holds, long leaseMillis) implements Order {}

  /** Keeps what it has for a time. */
  record Keep(long millis) implements Order {}

  /** Counts what was lost; Redisson has to ask Redis for that. */
  record Count() implements Order {}

  /** Lets so many threads wait for one name. Answers when they are all parked. */
  record Wait(String name, int waiters, boolean virtual) implements Order {}

  /** Measures the memory of those who wait. */
  record Weigh() implements Order {}
}
