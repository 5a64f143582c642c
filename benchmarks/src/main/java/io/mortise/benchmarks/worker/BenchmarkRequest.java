package io.mortise.benchmarks.worker;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;

/** A request to a worker, one line of JSON. The worker answers each with a {@link WorkerReport}. */
@JsonTypeInfo(use = JsonTypeInfo.Id.SIMPLE_NAME, property = "order")
@JsonSubTypes({
  @JsonSubTypes.Type(BenchmarkRequest.Cycle.class),
  @JsonSubTypes.Type(BenchmarkRequest.Take.class),
  @JsonSubTypes.Type(BenchmarkRequest.Keep.class),
  @JsonSubTypes.Type(BenchmarkRequest.Count.class),
  @JsonSubTypes.Type(BenchmarkRequest.CycleBeside.class),
  @JsonSubTypes.Type(BenchmarkRequest.Read.class),
  @JsonSubTypes.Type(BenchmarkRequest.EndRead.class),
  @JsonSubTypes.Type(BenchmarkRequest.Wait.class),
  @JsonSubTypes.Type(BenchmarkRequest.MeasureHeap.class)
})
public sealed interface BenchmarkRequest {

  /**
   * Cycles from a moment on, for a time; a cycle that has begun by then ends.
   *
   * @param startNanos by {@link System#nanoTime()}, which all processes of a machine share
   */
  record Cycle(BenchmarkTask work, long startNanos, long nanos) implements BenchmarkRequest {}

  /** Acquires that many locks and renews them. Answers when it has them. */
  record Take(String prefix, int holds, long leaseMillis) implements BenchmarkRequest {}

  /** Keeps its locks for a time. */
  record Keep(long millis) implements BenchmarkRequest {}

  /** Counts the locks that were lost; Redisson has to ask Redis for that. */
  record Count() implements BenchmarkRequest {}

  /** Locks and unlocks one more name for a time, by the client that holds the others. */
  record CycleBeside(String name, long millis) implements BenchmarkRequest {}

  /** Acquires one read lock by a client with that lease, the same in all turns, and renews it. */
  record Read(String name, long leaseMillis) implements BenchmarkRequest {}

  /** Releases it. */
  record EndRead() implements BenchmarkRequest {}

  /** Lets that many threads wait for one name. Answers when all are parked. */
  record Wait(String name, int waiters, boolean virtual) implements BenchmarkRequest {}

  /** Measures the memory of the waiters. */
  record MeasureHeap() implements BenchmarkRequest {}
}
