package io.mortise.connection.command;

import io.mortise.connection.pool.CommandException;
import io.mortise.scripts.ScriptCall;

/**
 * A call that is sent in a batch, and the receiver of its answer.
 *
 * <p><b>Threads.</b> The scheduler's thread asks for the call, and until when the answer is of use.
 * A worker, or without one the scheduler's thread, does the rest, after that.
 */
public interface BatchItem {
  /** Returns the call as it would be sent now; its keys, and so its server, stay the same. */
  ScriptCall call();

  /**
   * Returns the call to send. The item may have waited since it was added.
   *
   * @param added what {@link #call} returned when the item was added
   */
  default ScriptCall callToSend(ScriptCall added) {
    return added;
  }

  /**
   * Returns whether the answer is still of use. An item for which it is not fails unsent: when a
   * server, or this process, is too slow for all items, those that are in time still get through.
   */
  boolean isWanted();

  /** Returns until when the answer is of use: the earliest deadline is sent first. */
  long deadlineNanos();

  /** Returns the time limit for the answer; a batch has the shortest limit of its items. */
  long withinNanos();

  /** Handles the answer to this item of a batch that was sent at that time. */
  void onReply(long answer, long sentNanos);

  /** Handles the failure of this item: there is no answer. */
  void onFailure(CommandException fault);
}
