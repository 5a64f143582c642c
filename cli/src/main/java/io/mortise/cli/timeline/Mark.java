package io.mortise.cli.timeline;

import io.mortise.cli.worker.EventType;

/**
 * Something that happened at a moment.
 *
 * @param worker to which process, from 0
 * @param thread to which of its threads, from 0; {@link #WHOLE_PROCESS} if to all of them
 * @param detail one sentence
 */
public record Mark(int worker, int thread, EventType note, long atNanos, String detail) {
  /** In place of a thread. */
  public static final int WHOLE_PROCESS = -1;
}
