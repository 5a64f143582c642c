package io.mortise.core.internal.lease;

import com.google.common.base.Ticker;
import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.command.ScriptPipeline;
import io.mortise.connection.pool.CommandException;
import io.mortise.core.LockException;
import io.mortise.core.spi.LeaseTerms;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Extends or verifies one hold on the calling thread, which waits for the reply.
 *
 * <p><b>Threads.</b> Any thread may call any method, also while a batched request of {@link
 * LeaseRenewal} is under way: {@link LeaseTiming} says why the order of the replies does not
 * matter.
 */
record LeaseExtension(
    ScriptExecutor commands,
    HoldRegistry holds,
    Ticker ticker,
    HoldIdentity id,
    LeaseTiming timing,
    LeaseRenewal renewal) {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseExtension.class);

  /**
   * Extends the hold for a re-entry, which needs at least its own lease from now. Sends one command
   * if that is longer than the rest of the lease, otherwise none. The command may take the wait of
   * the terms, at least a round trip; without a wait, the command timeout.
   *
   * @throws LockException if there was no reply
   */
  void extendTo(LeaseTerms terms) {
    if (!timing.covers(terms) && timing.deadline().note(terms.leaseMillis())) {
      try {
        exchange(terms.leaseMillis(), withinNanos(terms));
      } catch (CommandException fault) {
        throw LockExceptions.from(
            fault, id.protocol().name(), "held, but could not be lengthened for the re-entry");
      }
    }
    boolean renewed = timing.isRenewed();
    boolean planned = false;
    timing.adopt(terms); // first: the interval follows from it
    try {
      renewal.requestWithinInterval();
      planned = true;
    } finally {
      if (!planned) { // nobody would end a renewal that has begun
        timing.setRenewed(renewed);
      }
    }
  }

  private long withinNanos(LeaseTerms terms) {
    return StepTimeout.ofSingle(terms, terms.waitNanos(), commands.timeoutNanos());
  }

  /** Verifies the hold and waits for the reply; throws if there is none. */
  void verifyNow() {
    try {
      verify();
    } catch (CommandException fault) {
      throw LockExceptions.from(fault, id.protocol().name(), "held, but could not be confirmed");
    }
  }

  /** Verifies the hold and waits for the reply; without one, requests a verification soon. */
  void verifyQuietly() {
    try {
      verify();
    } catch (CommandException fault) {
      LOG.debug("lock '{}': the verification failed and is repeated soon", id.lockName(), fault);
      renewal.requestVerification();
    }
  }

  private void verify() throws CommandException {
    long millis = timing.remainingMillis();
    if (timing.deadline().note(millis)) { // it may arrive late
      exchange(millis, commands.timeoutNanos());
    }
  }

  private void exchange(long millis, long withinNanos) throws CommandException {
    long epochBefore = holds.epoch();
    long sentNanos = ticker.read();
    ScriptPipeline.Result answer =
        commands
            .pipeline()
            .runBatch(List.of(id.protocol().renew(id.holder(), millis)), withinNanos)
            .get(0);
    if (answer.fault() != null) {
      throw answer.fault();
    }
    if (!(answer.reply().value() instanceof Long status) || status < 0) {
      throw new CommandException(
          CommandException.Kind.NOT_READY,
          false,
          "the server did not say whether the hold is there",
          null);
    }
    renewal.applyReply(status, sentNanos, millis, epochBefore);
  }
}
