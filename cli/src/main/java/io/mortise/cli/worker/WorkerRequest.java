package io.mortise.cli.worker;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;

/** What the demo tells a worker process: one JSON line each on the worker's standard input. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "order")
@JsonSubTypes({
  @JsonSubTypes.Type(name = "prepare", value = WorkerRequest.Prepare.class),
  @JsonSubTypes.Type(name = "go", value = WorkerRequest.Go.class),
  @JsonSubTypes.Type(name = "call", value = WorkerRequest.Call.class),
  @JsonSubTypes.Type(name = "proceed", value = WorkerRequest.Proceed.class),
  @JsonSubTypes.Type(name = "close", value = WorkerRequest.Close.class)
})
public sealed interface WorkerRequest {

  /** Connect, start the threads, and say that you are prepared. */
  record Prepare(Job job) implements WorkerRequest {}

  /** Begin: it is sent when all are prepared, so that all begin together. */
  record Go() implements WorkerRequest {}

  /** It is this thread's turn to ask. */
  record Call(int thread) implements WorkerRequest {}

  /** Go on, to the threads that wait for this word, inside their critical section or outside. */
  record Proceed() implements WorkerRequest {}

  /** Finish with the customer at hand, and let in no other. */
  record Close() implements WorkerRequest {}
}
