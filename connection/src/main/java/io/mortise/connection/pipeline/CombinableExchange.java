package io.mortise.connection.pipeline;

import io.mortise.connection.pool.Exchange;

/** An exchange of one short command, which may go along with those of other threads. */
public interface CombinableExchange extends Exchange {

  /** Whether it may. */
  boolean isCombinable();

  /**
   * The command.
   *
   * @param byText whether the script is sent as a text, because the server did not know its name
   */
  PendingCommand pendingCommand(boolean byText, long deadlineNanos);
}
