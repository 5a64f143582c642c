package io.mortise.core.internal.lease;

import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.command.ScriptPipeline;
import io.mortise.core.spi.LeaseTerms;
import java.util.function.LongSupplier;

/**
 * The time limit for the commands of a group at one of its clients. Clients that are asked one
 * after the other use up each other's time.
 *
 * <p><b>Threads.</b> Confined to the thread that asks the clients.
 */
@FunctionalInterface
public interface GroupTimeout {
  /** Each client has its command timeout. */
  GroupTimeout OF_COMMANDS = ScriptExecutor::timeoutNanos;

  /** Returns the time for the commands of that client. */
  long nanosFor(ScriptExecutor commands);

  /**
   * Returns the timeout for a caller that waits: all clients together may take the rest of the wait
   * and a round trip. Each of them has the least that {@link ScriptPipeline#runAll} gives a server
   * in any case, so that a silent server does not keep the others from being asked. A caller that
   * does not wait gives each client its command timeout.
   *
   * @param leftNanos returns the rest of the wait, which is negative after its end
   */
  static GroupTimeout within(LeaseTerms terms, LongSupplier leftNanos) {
    return commands -> {
      long timeoutNanos = commands.timeoutNanos();
      return Math.min(timeoutNanos, StepTimeout.ofNext(terms, leftNanos.getAsLong(), timeoutNanos));
    };
  }
}
