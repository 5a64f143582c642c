package io.mortise.core.internal;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.core.internal.RedisNode.Reply;
import io.mortise.core.internal.Standing.Phase;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.ScriptCall;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One hold, from the answer that granted it to its end.
 *
 * <pre>
 *             renewal fails            renewal succeeds
 *        HELD ------------> AT_RISK -------------------> HELD
 *          |                   |
 *          +---------+---------+---- deadline passed, force, gone, client closed ---> LOST
 *                    |                                                                 ^
 *                    | close, unlock                                                   |
 *                    v                     Redis says: not there any more              |
 *               RELEASING ------------------------------------------------------------+
 *                    |
 *                    +---- Redis says: released; or cannot be reached -----------> RELEASED
 * </pre>
 *
 * <p><b>Threads.</b> The standing changes by compare-and-set alone, under the lock of the events,
 * so that it is told in the order in which it changed. Whoever makes the change to LOST or
 * RELEASING does what belongs to it, once: takes the hold out of the scheduler and passes the gate
 * on. Time is the {@link Renewal}'s. Anybody who looks after the deadline makes the hold lost, so
 * nobody can see a hold that is over. When a renewed hold has expired, Redis may have lengthened it
 * just then; it is released in the background, so that nobody waits for it.
 */
final class LeaseHandle implements Lease {
  static final String BY_FORCE = "somebody took the lock by force";

  private final Engine engine;
  private final LockProtocol protocol;
  private final String holder;
  private final long token;
  private final @Nullable Thread owner;
  private final LeaseEvents events;
  private final Renewal renewal;
  private final AtomicReference<Standing> standing = new AtomicReference<>(Standing.HELD);
  private final AtomicBoolean lossThrown = new AtomicBoolean();

  /**
   * What is to be done when the hold ends: the gate's permit. Set before the lease is published.
   */
  private Runnable onEnd = () -> {};

  /** Attempts before the one that was granted. */
  private Doubt doubt = Doubt.NONE;

  LeaseHandle(
      Engine engine,
      LockProtocol protocol,
      String holder,
      long token,
      @Nullable Thread owner,
      Terms terms,
      long sentNanos) {
    this.engine = engine;
    this.protocol = protocol;
    this.holder = holder;
    this.token = token;
    this.owner = owner;
    this.events = new LeaseEvents(engine.workers(), protocol.name());
    this.renewal = new Renewal(engine, this, protocol, holder, owner, terms, sentNanos);
  }

  void onEnd(Runnable action) {
    onEnd = action;
  }

  void doubt(Doubt attempts) {
    doubt = attempts;
  }

  LockProtocol protocol() {
    return protocol;
  }

  String holder() {
    return holder;
  }

  @Nullable Thread owner() {
    return owner;
  }

  Renewal renewal() {
    return renewal;
  }

  ScriptCall releaseCall() {
    return protocol.release(holder);
  }

  // ---- where it stands

  private Standing standing() {
    return Objects.requireNonNull(standing.get());
  }

  private Standing standingNow() {
    Standing s = standing();
    if (s.isLive() && engine.nanos() - renewal.deadlineNanos() >= 0) {
      lose(Reason.EXPIRED, renewal.deadlineNanos(), renewal.whyExpired());
      return standing();
    }
    return s;
  }

  /** The phase, without a look at the clock. */
  Phase phase() {
    return standing().phase();
  }

  Phase phaseNow() {
    return standingNow().phase();
  }

  private boolean move(Standing from, Standing to) {
    return events.changed(() -> standing.compareAndSet(from, to), to.state(), to.loss());
  }

  /** A renewal is late. */
  boolean atRisk() {
    return move(Standing.HELD, Standing.AT_RISK);
  }

  /** Redis has said that the hold is there. */
  void confirmed() {
    if (phase() == Phase.AT_RISK) {
      move(Standing.AT_RISK, Standing.HELD);
    }
  }

  /** Ends the hold as lost, unless it has ended already or is being released. */
  boolean lose(Reason reason, long atNanos, String detail) {
    Standing after = lost(reason, atNanos, detail);
    Standing before;
    do {
      before = standing();
      if (!before.isLive()) {
        return false;
      }
    } while (!move(before, after));
    logLoss(after);
    if (owner == null) {
      engine.scheduler().remove(renewal);
    } else {
      renewal.awaitOwner();
    }
    onEnd.run();
    if (doubt.exists() || (reason == Reason.EXPIRED && renewal.isRenewed())) {
      abandon();
    }
    return true;
  }

  private Standing lost(Reason reason, long atNanos, String detail) {
    return Standing.lost(new LeaseLoss(protocol.name().value(), token, reason, atNanos, detail));
  }

  private void logLoss(Standing lost) {
    Engine.LOG.warn(
        "lock '{}': the lease with fencing token {} is lost: {}",
        protocol.name(),
        token,
        lost.loss() == null ? "" : lost.loss().detail());
  }

  /** Throws the loss, if it is one. */
  void throwIfLost() {
    LeaseLoss loss = standingNow().loss();
    if (loss != null) {
      throw new LeaseLostException(loss);
    }
  }

  // ---- release

  /**
   * Releases, once.
   *
   * @return whether it was this call that did
   */
  boolean release() throws Fault {
    Standing before;
    do {
      before = standingNow();
      if (!before.isLive()) {
        return false;
      }
    } while (!standing.compareAndSet(before, Standing.RELEASING));
    engine.scheduler().remove(renewal);
    try {
      released(engine.commands().run(protocol.release(holder)));
    } catch (Fault fault) {
      move(Standing.RELEASING, Standing.RELEASED);
      abandon();
      throw fault;
    } finally {
      onEnd.run();
    }
    if (doubt.exists()) {
      engine.releases().abandon(protocol, holder, doubt);
    }
    throwIfLost();
    return true;
  }

  /** What Redis may still hold is released in the background. */
  private void abandon() {
    engine.releases().abandon(protocol, holder, doubt.another(renewal.endInRedisNanos()));
  }

  private void released(Reply reply) {
    List<?> answer = (List<?>) reply.value();
    long status = (Long) answer.get(0);
    Standing after = Standing.RELEASED;
    if (status == 2) {
      after = lost(Reason.FORCED, engine.nanos(), BY_FORCE);
    } else if (status == 0 && !reply.repeated()) {
      after =
          lost(Reason.GONE, engine.nanos(), "Redis did not know this hold when it was released");
    } else if (status == 1 && (Long) answer.get(1) < 0) {
      Engine.LOG.warn(
          "lock '{}': released, but who waits could not be told; the user needs the right to its"
              + " channel",
          protocol.name());
    }
    if (move(Standing.RELEASING, after) && after.loss() != null) {
      logLoss(after);
    }
  }

  @Override
  public void close() {
    if (owner != null) {
      throw new IllegalMonitorStateException(
          "lock '%s': this hold belongs to thread '%s', which gives it up by unlock()"
              .formatted(protocol.name(), owner.getName()));
    }
    try {
      if (!release() && !lossThrown.get()) {
        throwIfLost();
      }
    } catch (LeaseLostException lost) {
      lossThrown.set(true);
      throw lost;
    } catch (Fault fault) {
      throw engine.releases().unconfirmed(protocol.name(), fault, renewal.endInRedisNanos());
    }
  }

  // ---- what callers ask

  @Override
  public String lockName() {
    return protocol.name().value();
  }

  @Override
  public long fencingToken() {
    return token;
  }

  @Override
  public State state() {
    return standingNow().state();
  }

  @Override
  public Duration remaining() {
    Phase phase = phaseNow();
    return phase == Phase.LOST || phase == Phase.RELEASED
        ? Duration.ZERO
        : Duration.ofNanos(Math.max(0, renewal.deadlineNanos() - engine.nanos()));
  }

  @Override
  public Optional<LeaseLoss> loss() {
    return Optional.ofNullable(standingNow().loss());
  }

  @Override
  public void ensureValid() {
    throwIfLost();
    if (!standingNow().isLive()) {
      throwIfLost();
      throw new IllegalMonitorStateException(
          "lock '%s': the lease with fencing token %d was released already"
              .formatted(protocol.name(), token));
    }
  }

  @Override
  public void onLost(Consumer<LeaseLoss> listener) {
    phaseNow(); // a loss that nobody has seen yet is told at once
    events.onLost(listener);
  }

  @Override
  public void onStateChange(Consumer<State> listener) {
    events.onStateChange(listener);
  }

  @Override
  public String toString() {
    return "lease of '%s', token %d, %s".formatted(protocol.name(), token, phase());
  }
}
