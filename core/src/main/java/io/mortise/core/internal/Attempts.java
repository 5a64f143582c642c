package io.mortise.core.internal;

import io.mortise.core.LockException.Reason;
import io.mortise.core.spi.Attempt;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.OwnedLease;
import io.mortise.core.spi.ScriptCall;
import io.mortise.core.spi.Terms;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * What one acquisition asks of Redis, all under one holder id: its attempts, and what may be left
 * there of those that did not end well.
 *
 * <p><b>A lost reply</b>: the attempt may have been granted; a repetition by the same holder id
 * takes the same hold, and if the acquisition ends without it, {@link #giveUp} releases what may be
 * there, until the lease would have run out. <b>A lease that is over on arrival</b> is no hold.
 *
 * <p>Used by one thread at a time, that of its acquisition.
 */
final class Attempts {
  /**
   * How long a last attempt may take past the end of the wait: the round trip of a slow network.
   */
  private static final long ROUND_TRIP_NANOS = 200_000_000L;

  private final Engine engine;
  private final LockProtocol protocol;
  private final Terms terms;
  private final Place place;
  private final Neighbours neighbours;
  private final Patience patience;
  private final String holder;

  /** Of the last attempt. */
  private int tokens;

  private long sentNanos;
  private @Nullable Sent sent;

  /** Attempts without an answer, which may leave a hold behind. */
  private Doubt doubt = Doubt.NONE;

  /** Whether an attempt was refused in the middle of its script: what it had written stands. */
  private boolean halfway;

  private boolean queued;

  Attempts(
      Engine engine,
      LockProtocol protocol,
      Terms terms,
      Place place,
      Neighbours neighbours,
      Patience patience,
      String holder) {
    this.engine = engine;
    this.protocol = protocol;
    this.terms = terms;
    this.place = place;
    this.neighbours = neighbours;
    this.patience = patience;
    this.holder = holder;
  }

  /**
   * Makes one attempt.
   *
   * @param leftNanos what is left of the wait
   * @return null when there was no answer, which {@code patience} then explains
   */
  @Nullable Attempt make(long leftNanos) {
    ScriptCall call = next();
    long within =
        terms.waitNanos() == 0
            ? engine.commands().timeoutNanos()
            : Math.max(leftNanos, ROUND_TRIP_NANOS);
    return outcome(
        () ->
            engine
                .commands()
                .attempt(
                    Request.of(call),
                    answer -> protocol.outcome(answer) instanceof Attempt.Acquired,
                    () -> List.of(protocol.release(holder)),
                    within));
  }

  /** Sends one ahead of its {@link #receive}, if that can be. */
  void send() {
    if (engine.commands().sendsAttempts()) {
      sent = engine.commands().send(next());
    }
  }

  boolean isSent() {
    return sent != null;
  }

  /** Whether {@link #receive} would find the answer there. */
  boolean hasArrived() {
    return sent != null && sent.hasArrived();
  }

  /**
   * Waits for the answer to what was sent, or makes the attempt if nothing was; as {@link #make}.
   */
  @Nullable Attempt receive() {
    Sent first = sent;
    sent = null;
    return first == null ? make(0) : outcome(first::receive);
  }

  private ScriptCall next() {
    tokens = neighbours.tokens();
    sentNanos = engine.nanos();
    return protocol.acquire(holder, terms.leaseMillis(), terms.waitNanos() > 0, tokens);
  }

  @FunctionalInterface
  private interface Answer {
    Reply get() throws Fault;
  }

  private @Nullable Attempt outcome(Answer answer) {
    try {
      Reply reply = answer.get();
      if (reply.repeated()) {
        doubt();
      }
      Attempt outcome = protocol.outcome(reply.value());
      if (!(outcome instanceof Attempt.Acquired)) {
        note(null);
        place.wasBusy();
      }
      queued |= outcome instanceof Attempt.Queued;
      return outcome;
    } catch (Fault fault) {
      if (fault.isAnswer()) {
        halfway |= fault.mayHaveRun();
      } else if (fault.mayHaveRun()) {
        doubt();
      }
      note(fault);
      return null;
    }
  }

  /** The hold that the last attempt was granted; null when it came too late, as without answer. */
  @Nullable OwnedLease hold(Attempt.Acquired acquired) {
    LeaseHandle lease =
        new LeaseHandle(engine, protocol, holder, acquired, neighbours.owner(), terms, sentNanos);
    // Not by asking the lease: that would make it lost, and a lost one is released in the
    // background, which could meet the next attempt of the same holder.
    if (engine.nanos() - lease.renewal().deadlineNanos() >= 0) {
      doubt();
      note(
          new Fault(
              Reason.UNREACHABLE,
              true,
              "the answer took longer than the lease of " + terms.leaseMillis() + " ms",
              new TimeoutException()));
      return null;
    }
    note(null);
    lease.end().doubt(doubt);
    return neighbours.hold(lease, tokens);
  }

  private void doubt() {
    doubt = doubt.another(leaseFromNow());
  }

  private long leaseFromNow() {
    return engine.nanos() + terms.leaseMillis() * 1_000_000;
  }

  private void note(@Nullable Fault fault) {
    patience.note(fault);
    place.attempted(fault);
  }

  /**
   * Nothing came of it. A place in a queue is left at once, while Redis answers; what is in doubt,
   * in the background.
   */
  void giveUp() {
    boolean left = !queued;
    if (queued && patience.last() == null) {
      try {
        engine.commands().run(protocol.abandon(holder), ROUND_TRIP_NANOS);
        left = true;
      } catch (Fault fault) {
        Engine.LOG.debug("lock '{}': the queue is left in the background", protocol.name(), fault);
      }
    }
    if (!left || doubt.exists()) {
      engine.releases().abandon(protocol, holder, left ? doubt : doubt.another(leaseFromNow()));
    } else if (halfway) {
      // Once: nothing is on its way any more.
      engine.releases().abandon(protocol, holder, Doubt.NONE);
    }
  }
}
