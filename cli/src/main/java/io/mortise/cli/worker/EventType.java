package io.mortise.cli.worker;

/** What can happen to a worker or to its hold, besides coming and going. */
public enum EventType {
  /** The process was killed. */
  KILLED,
  /** The process was suspended. */
  PAUSED,
  /** The process runs again. */
  WOKEN,
  /** The holder was told that its lease is lost. */
  TOLD,
  /** The resource refused a write because of its old token. */
  REFUSED,
  /** A reader saw half of what a writer was writing. */
  TORN,
  /** A holder of one lock did not get the other in time. */
  GAVE_UP,
  /** The lock could not be had or given back, for want of servers. */
  FAILED
}
