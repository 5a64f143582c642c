package io.mortise.cli.timeline;

import io.mortise.cli.worker.EventType;

/**
 * An event on the time line.
 *
 * @param worker its process, from 0
 * @param thread its thread, from 0; {@link #WHOLE_PROCESS} if the event concerns all
 * @param detail one sentence
 */
public record Mark(int worker, int thread, EventType type, long atNanos, String detail) {
  /** Instead of the number of a thread. */
  public static final int WHOLE_PROCESS = -1;
}
