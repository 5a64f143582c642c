package io.mortise.core.internal;

import io.mortise.core.internal.ConnectionSource.Loan;
import org.jspecify.annotations.Nullable;

/**
 * A script that was sent ahead of whoever waits for its answer, so that several servers work at the
 * same time for one thread.
 *
 * <p>It keeps its connection until the answer is read, so {@link #receive} has to be called, once.
 * Used by one thread at a time; whoever passes it to another orders the two.
 */
final class Sent {
  private final RedisNode node;
  private final ScriptExchange exchange;
  private final Loan loan;
  private final Wire wire;
  private final long deadlineNanos;
  private @Nullable RuntimeException failure;

  Sent(RedisNode node, ScriptExchange exchange, Loan loan, Wire wire, long deadlineNanos) {
    this.node = node;
    this.exchange = exchange;
    this.loan = loan;
    this.wire = wire;
    this.deadlineNanos = deadlineNanos;
  }

  /** Sends it; what goes wrong is told by {@link #receive}. */
  Sent send() {
    try {
      exchange.send(wire);
    } catch (RuntimeException e) {
      failure = e;
    }
    return this;
  }

  /** Whether {@link #receive} would find the answer there. */
  boolean hasArrived() {
    return failure == null && wire.hasArrived();
  }

  /**
   * Waits for the answer, and repeats the exchange if the connection turns out to be dead, as
   * {@link RedisNode#exchange} does.
   */
  Reply receive() throws Fault {
    return node.exchange(this::answer, exchange, deadlineNanos);
  }

  private Reply answer() throws Fault {
    return node.converse(
        loan,
        (connection, deadline) -> {
          if (failure != null) {
            throw failure;
          }
          return exchange.answer(connection, deadline);
        },
        deadlineNanos,
        true);
  }
}
