package io.mortise.benchmarks.worker;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;

/** A request to a worker, one line of JSON. The worker answers each with a {@link Report}. */
@JsonTypeInfo(use = JsonTypeInfo.Id.SIMPLE_NAME, property = "order")
@JsonSubTypes({
  @JsonSubTypes.Type(WorkerRequest.Cycle.class),
  @JsonSubTypes.Type(WorkerRequest.Take.class),
  @JsonSubTypes.Type(WorkerRequest.Keep.class),
  @JsonSubTypes.Type(WorkerRequest.Count.class),
  @JsonSubTypes.Type(WorkerRequest.CycleBeside.class),
  @JsonSubTypes.Type(WorkerRequest.Read.class),
  @JsonSubTypes.Type(WorkerRequest.EndRead.class),
  @JsonSubTypes.Type(WorkerRequest.Wait.class),
  @JsonSubTypes.Type(WorkerRequest.MeasureHeap.class)
})
public sealed interface WorkerRequest {

  /**
   * Cycles from a moment on, for a time; a cycle that has begun by then ends.
   *
   * @param startNanos by {@link System#nanoTime()}, which all processes of a machine share
   */
  record Cycle(WorkerTask work, long startNanos, long nanos) implements WorkerRequest {}

  /** Acquires that many locks and renews them. Answers when it has them. */
  record Take(String prefix, int holds, long leaseMillis) implements WorkerRequest {}

  /** Keeps its locks for a time. */
  record Keep(long millis) implements WorkerRequest {}

  /** Counts the locks that were lost; Redisson has to ask Redis for that. */
  record Count() implements WorkerRequest {}

  /** Locks and unlocks one more name for a time, by the client that holds the others. */
  record CycleBeside(String name, long millis) implements WorkerRequest {}

  /** Acquires one read lock by a client with that lease, the same in all turns, and renews it. */
  record Read(String name, long leaseMillis) implements WorkerRequest {}

  /** Releases it. */
  record EndRead() implements WorkerRequest {}

  /** Lets that many threads wait for one name. Answers when all are parked. */
  record Wait(String name, int waiters, boolean virtual) implements WorkerRequest {}

  /** Measures the memory of the waiters. */
  record MeasureHeap() implements WorkerRequest {}
}
