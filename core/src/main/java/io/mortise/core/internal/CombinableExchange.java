package io.mortise.core.internal;

/** An exchange of one short command, which may go along with those of other threads. */
interface CombinableExchange extends Exchange {

  /** Whether it may. */
  boolean mayGoAlong();

  /**
   * The command.
   *
   * @param byText whether the script is sent as a text, because the server did not know its name
   */
  Passenger passenger(boolean byText, long deadlineNanos);
}
