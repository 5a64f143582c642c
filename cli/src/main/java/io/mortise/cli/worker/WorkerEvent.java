package io.mortise.cli.worker;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.mortise.cli.worker.Accounts.Account;
import io.mortise.testkit.HoldLog.Mode;

/**
 * An event of a worker process, one JSON line on its standard output. Threads count from 0, times
 * are {@link System#nanoTime()}, which all processes of one machine share.
 */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "event")
@JsonSubTypes({
  @JsonSubTypes.Type(name = "ready", value = WorkerEvent.Ready.class),
  @JsonSubTypes.Type(name = "prepared", value = WorkerEvent.Prepared.class),
  @JsonSubTypes.Type(name = "asking", value = WorkerEvent.Asking.class),
  @JsonSubTypes.Type(name = "entered", value = WorkerEvent.Entered.class),
  @JsonSubTypes.Type(name = "held", value = WorkerEvent.Held.class),
  @JsonSubTypes.Type(name = "kept", value = WorkerEvent.Kept.class),
  @JsonSubTypes.Type(name = "noted", value = WorkerEvent.Noted.class),
  @JsonSubTypes.Type(name = "finished", value = WorkerEvent.Finished.class),
  @JsonSubTypes.Type(name = "failed", value = WorkerEvent.Failed.class),
  @JsonSubTypes.Type(name = "logged", value = WorkerEvent.Logged.class)
})
public sealed interface WorkerEvent {

  /** The process takes requests; the time shows whether it shares the clock of the demo. */
  record Ready(long atNanos) implements WorkerEvent {}

  /** The process is connected, and its threads wait to begin. */
  record Prepared() implements WorkerEvent {}

  /** A thread that was called is about to request the lock. */
  record Asking(int thread) implements WorkerEvent {}

  /** A thread has entered and stays inside; reported at once, because it may be killed there. */
  record Entered(int thread, long token, long askedNanos, long enteredNanos)
      implements WorkerEvent {}

  /**
   * A thread was inside and leaves.
   *
   * @param mode exclusive or shared
   * @param token the fencing token, 0 without a lock
   * @param sold whether it sold one; if not, nothing was left, or its write was refused
   */
  record Held(
      int thread,
      Mode mode,
      long token,
      long askedNanos,
      long enteredNanos,
      long leftNanos,
      boolean sold)
      implements WorkerEvent {}

  /** A thread held the lock of one account, with or without the other. */
  record Kept(int thread, Account account, long fromNanos, long toNanos) implements WorkerEvent {}

  /** An event that gets a mark on the time line. */
  record Noted(int thread, EventType type, long token, long atNanos, String detail)
      implements WorkerEvent {}

  /** All threads have finished. */
  record Finished() implements WorkerEvent {}

  /** The process cannot go on. */
  record Failed(String message) implements WorkerEvent {}

  /** A line of the log of the process. */
  record Logged(String line) implements WorkerEvent {}
}
