package io.mortise.benchmarks.worker;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;

/** What a worker is told, a line of JSON each. It answers each with a {@link Report}. */
@JsonTypeInfo(use = JsonTypeInfo.Id.SIMPLE_NAME, property = "order")
@JsonSubTypes({
  @JsonSubTypes.Type(WorkerRequest.Cycle.class),
  @JsonSubTypes.Type(WorkerRequest.Take.class),
  @JsonSubTypes.Type(WorkerRequest.Keep.class),
  @JsonSubTypes.Type(WorkerRequest.Count.class),
  @JsonSubTypes.Type(WorkerRequest.Wait.class),
  @JsonSubTypes.Type(WorkerRequest.Weigh.class)
})
public sealed interface WorkerRequest {

  /**
   * Cycles from a moment on, for a time; who is in the middle of one then ends it.
   *
   * @param startNanos by {@link System#nanoTime()}, which all processes of a machine share
   */
  record Cycle(WorkerTask work, long startNanos, long nanos) implements WorkerRequest {}

  /** Takes so many locks, and keeps them, renewed. Answers when it has them. */
  record Take(String prefix, int holds, long leaseMillis) implements WorkerRequest {}

  /** Keeps what it has for a time. */
  record Keep(long millis) implements WorkerRequest {}

  /** Counts what was lost; Redisson has to ask Redis for that. */
  record Count() implements WorkerRequest {}

  /** Lets so many threads wait for one name. Answers when they are all parked. */
  record Wait(String name, int waiters, boolean virtual) implements WorkerRequest {}

  /** Measures the memory of those who wait. */
  record Weigh() implements WorkerRequest {}
}
