package io.mortise.cli.worker;

/** The events of a worker or its hold that get a mark on the time line. */
public enum EventType {
  /** The process was killed. */
  KILLED,
  /** The process was suspended. */
  PAUSED,
  /** The process runs again. */
  WOKEN,
  /** The holder was notified that its lease is lost. */
  NOTIFIED,
  /** The resource refused a write because of its old token. */
  REFUSED,
  /** A reader saw a half-written version. */
  TORN,
  /** A holder of one lock did not get the other in time. */
  GAVE_UP,
  /** A release could not be confirmed: a server did not answer in time. */
  IN_DOUBT,
  /** The lock could not be acquired, because too few servers were up. */
  FAILED
}
