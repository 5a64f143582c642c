package io.mortise.connection.pipeline;

import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.pool.Exchange;

/**
 * An exchange of one short command, which may share a batch with commands of other threads.
 *
 * <p><b>Threads.</b> As {@link Exchange}; another thread may send its command in a batch.
 */
public interface CombinableExchange extends Exchange {

  /** Returns whether this exchange may share a batch. */
  boolean isCombinable();

  /**
   * Returns the command to submit.
   *
   * @param byText whether the script is sent as text, because the server did not know its SHA-1
   */
  PendingCommand pendingCommand(boolean byText, Deadline deadline);
}
