package io.mortise.cli.worker;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;

/** A request of the demo to a worker process: one JSON line on its standard input. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "request")
@JsonSubTypes({
  @JsonSubTypes.Type(name = "prepare", value = WorkerRequest.Prepare.class),
  @JsonSubTypes.Type(name = "go", value = WorkerRequest.Go.class),
  @JsonSubTypes.Type(name = "call", value = WorkerRequest.Call.class),
  @JsonSubTypes.Type(name = "proceed", value = WorkerRequest.Proceed.class),
  @JsonSubTypes.Type(name = "close", value = WorkerRequest.Close.class)
})
public sealed interface WorkerRequest {

  /** Connects, starts the threads, and reports {@link WorkerEvent.Prepared}. */
  record Prepare(Job job) implements WorkerRequest {}

  /** Begins. It is sent when all workers are prepared, so that all begin together. */
  record Go() implements WorkerRequest {}

  /** Lets this thread request the lock. */
  record Call(int thread) implements WorkerRequest {}

  /** Lets the threads go on that wait for it, inside their critical section or outside. */
  record Proceed() implements WorkerRequest {}

  /** Ends the work after the current customers. */
  record Close() implements WorkerRequest {}
}
