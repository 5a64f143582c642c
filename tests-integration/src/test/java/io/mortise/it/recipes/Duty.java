package io.mortise.it.recipes;

/** The task of a leader. */
interface Duty {
  /** Does a short part of the work, and sends the token with each write. */
  void step(long token) throws InterruptedException;
}
