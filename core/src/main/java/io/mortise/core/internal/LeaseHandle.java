package io.mortise.core.internal;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.core.internal.RedisNode.Reply;
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
 * <p><b>Threads.</b> The phase changes by compare-and-set alone, and whoever makes the change to an
 * end (LOST, RELEASING) does what belongs to it, once: takes it out of the scheduler, passes the
 * gate on, tells. The deadline only ever grows while the hold lives, written by whoever has sent a
 * renewal and got its answer; a reader that sees the older value believes in less than there is. An
 * answer that arrives after the end changes nothing, except that a hold which Redis has just
 * lengthened although it is lost here is released, so that nobody waits for it.
 */
final class LeaseHandle implements Lease, Scheduler.Timed, Batches.Item {
  private static final long LOST_OWNER_CHECK_NANOS = 30_000_000_000L;

  enum Phase {
    HELD,
    AT_RISK,
    RELEASING,
    LOST,
    RELEASED
  }

  /** The phase, and with LOST the loss: both change in one step. */
  private record Standing(Phase phase, @Nullable LeaseLoss loss) {
    boolean isLive() {
      return phase == Phase.HELD || phase == Phase.AT_RISK;
    }

    static final Standing HELD = new Standing(Phase.HELD, null);
    static final Standing AT_RISK = new Standing(Phase.AT_RISK, null);
    static final Standing RELEASING = new Standing(Phase.RELEASING, null);
    static final Standing RELEASED = new Standing(Phase.RELEASED, null);
  }

  private final Engine engine;
  private final LockProtocol protocol;
  private final String holder;
  private final long token;
  private final @Nullable Thread owner;
  private final long acquiredNanos;
  private final LeaseEvents events;
  private final AtomicReference<Standing> standing = new AtomicReference<>(Standing.HELD);
  private final AtomicBoolean lossThrown = new AtomicBoolean();

  /**
   * What is to be done when the hold ends: the gate's permit. Set before the lease is published.
   */
  private Runnable onEnd = () -> {};

  /** Until when an attempt whose answer is missing may still take effect; 0 if there is none. */
  private long doubtUntilNanos;

  private volatile long leaseMillis;
  private volatile boolean renewed;
  private volatile long deadlineNanos;
  private volatile long renewalNanos;
  private volatile boolean inFlight;

  /** Why nobody renews the hold although its terms say so; empty while somebody does. */
  private volatile String renewalEndedBecause = "";

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
    this.acquiredNanos = sentNanos;
    this.leaseMillis = terms.leaseMillis();
    this.renewed = terms.renewed();
    this.events = new LeaseEvents(engine.workers(), protocol.name());
    extendedAt(sentNanos);
  }

  void onEnd(Runnable action) {
    onEnd = action;
  }

  void doubtUntil(long nanos) {
    doubtUntilNanos = nanos;
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

  // ---- validity

  private void extendedAt(long sentNanos) {
    long lease = leaseMillis * 1_000_000;
    deadlineNanos = sentNanos + lease - Terms.driftNanos(lease);
    renewalNanos = sentNanos + (long) (lease / 3.0 * (0.9 + engine.random() / 10));
  }

  private boolean isOver(Phase p) {
    return p == Phase.LOST || p == Phase.RELEASED;
  }

  private Standing current() {
    return Objects.requireNonNull(standing.get());
  }

  private Standing standingNow() {
    Standing s = current();
    if (s.isLive() && engine.nanos() - deadlineNanos >= 0) {
      expire();
      return current();
    }
    return s;
  }

  private Phase phaseNow() {
    return standingNow().phase();
  }

  @Override
  public State state() {
    return switch (phaseNow()) {
      case HELD, RELEASING -> State.HELD;
      case AT_RISK -> State.AT_RISK;
      case LOST -> State.LOST;
      case RELEASED -> State.RELEASED;
    };
  }

  @Override
  public Duration remaining() {
    return isOver(phaseNow())
        ? Duration.ZERO
        : Duration.ofNanos(Math.max(0, deadlineNanos - engine.nanos()));
  }

  @Override
  public Optional<LeaseLoss> loss() {
    return Optional.ofNullable(standingNow().loss());
  }

  @Override
  public void ensureValid() {
    throwIfLost();
    Phase p = phaseNow();
    if (p == Phase.RELEASED || p == Phase.RELEASING) {
      throw new IllegalMonitorStateException(
          "lock '%s': the lease with fencing token %d was released already"
              .formatted(protocol.name(), token));
    }
  }

  // ---- loss

  private void expire() {
    String why =
        !renewalEndedBecause.isEmpty()
            ? "it was not renewed any more, because " + renewalEndedBecause
            : renewed
                ? "no renewal succeeded in the last "
                    + leaseMillis
                    + " ms; if Redis was reachable, this process was suspended for too long"
                : "its lease of "
                    + leaseMillis
                    + " ms ran out; give a longer one, or none to have it renewed";
    lose(Reason.EXPIRED, deadlineNanos, why);
  }

  /** Ends the hold as lost, unless it has ended already. */
  boolean lose(Reason reason, long atNanos, String detail) {
    return lose(reason, atNanos, detail, false);
  }

  private boolean lose(Reason reason, long atNanos, String detail, boolean whileReleasing) {
    LeaseLoss told = new LeaseLoss(protocol.name().value(), token, reason, atNanos, detail);
    Standing after = new Standing(Phase.LOST, told);
    Standing before;
    do {
      before = current();
      if (whileReleasing ? before.phase() != Phase.RELEASING : !before.isLive()) {
        return false;
      }
    } while (!standing.compareAndSet(before, after));
    if (!whileReleasing) {
      finish();
    }
    Engine.LOG.warn(
        "lock '{}': the lease with fencing token {} is lost: {}", protocol.name(), token, detail);
    events.lost(told);
    return true;
  }

  private void finish() {
    if (owner == null) {
      engine.scheduler().remove(this);
    } else {
      // It stays known to its thread until that unlocks, or is seen to be dead.
      renewalNanos = engine.nanos() + LOST_OWNER_CHECK_NANOS;
    }
    onEnd.run();
  }

  // ---- renewal: the scheduler's thread asks, a worker brings the answer

  @Override
  public long dueNanos() {
    if (current().phase() == Phase.LOST) {
      return renewalNanos;
    }
    return mayRenew() && renewalNanos - deadlineNanos < 0 ? renewalNanos : deadlineNanos;
  }

  @Override
  public long earliestNanos() {
    // What is due within the last fifth of its interval goes along with what is due now.
    return current().phase() == Phase.HELD && mayRenew()
        ? renewalNanos - leaseMillis * 1_000_000 / 15
        : dueNanos();
  }

  private boolean mayRenew() {
    return renewed && !inFlight && renewalEndedBecause.isEmpty();
  }

  @Override
  public void onTime(long nowNanos) {
    Phase p = phaseNow();
    if (p == Phase.LOST) {
      renewalNanos = nowNanos + LOST_OWNER_CHECK_NANOS;
      if (owner == null || !owner.isAlive()) {
        engine.forget(this);
      }
    } else if (p != Phase.RELEASED && p != Phase.RELEASING && mayRenew()) {
      if (owner != null && !owner.isAlive()) {
        endRenewal("its thread '" + owner.getName() + "' ended without unlocking");
      } else if (nowNanos - acquiredNanos >= engine.options().maxHold().toNanos()) {
        endRenewal("it was held for longer than LockOptions.maxHold");
      } else {
        inFlight = true;
        engine.batches().offer(this);
      }
    }
  }

  private void endRenewal(String why) {
    renewalEndedBecause = why;
    Engine.LOG.warn("lock '{}': the hold is not renewed any more: {}", protocol.name(), why);
    moveTo(Standing.AT_RISK, Standing.HELD);
  }

  @Override
  public ScriptCall call() {
    return protocol.renew(holder, leaseMillis);
  }

  @Override
  public long withinNanos() {
    return Math.max(100_000_000, leaseMillis * 1_000_000 / 3);
  }

  @Override
  public void answered(long answer, long sentNanos) {
    inFlight = false;
    Phase p = current().phase();
    if (answer == 1) {
      if (p == Phase.LOST) {
        engine.releases().abandon(protocol, holder, sentNanos + leaseMillis * 1_000_000);
      } else if (!isOver(p)) {
        extendedAt(sentNanos);
        moveTo(Standing.HELD, Standing.AT_RISK);
      }
    } else if (answer == 2) {
      lose(Reason.FORCED, engine.nanos(), "somebody took the lock by force");
    } else {
      lose(
          Reason.GONE,
          engine.nanos(),
          "Redis does not know this hold any more; it lost its data, or the key was deleted");
    }
    engine.scheduler().poke(dueNanos());
  }

  @Override
  public void failed(Fault fault) {
    renewalNanos = engine.nanos() + (long) (leaseMillis * 1e6 / 10 * (0.5 + engine.random() / 2));
    inFlight = false;
    if (moveTo(Standing.AT_RISK, Standing.HELD)) {
      Engine.LOG.warn("lock '{}': a renewal failed: {}", protocol.name(), fault.getMessage());
    }
    engine.scheduler().poke(dueNanos());
  }

  private boolean moveTo(Standing next, Standing from) {
    boolean moved = standing.compareAndSet(from, next);
    if (moved) {
      events.changed(next.phase() == Phase.AT_RISK ? State.AT_RISK : State.HELD);
    }
    return moved;
  }

  /** Asks Redis soon whether the hold is still there. */
  void verify() {
    if (renewed) {
      renewalNanos = engine.nanos();
      engine.scheduler().poke(renewalNanos);
    }
  }

  /**
   * A re-entry needs the hold for at least this long from now. One round trip if that is longer
   * than what is left, otherwise none.
   */
  void need(Terms terms) throws Fault {
    long until = engine.nanos() + terms.leaseMillis() * 1_000_000;
    // What is renewed stays so while the outer level stands, which is longer than this one.
    boolean covered = renewed && terms.leaseMillis() <= leaseMillis;
    if (!covered && deadlineNanos - until < 0) {
      long sentNanos = engine.nanos();
      long longer = Math.max(terms.leaseMillis(), renewed ? leaseMillis : 0);
      ScriptCall renewal = protocol.renew(holder, longer);
      List<Long> answer =
          engine.commands().runBatch(renewal.script(), List.of(renewal), withinNanos());
      leaseMillis = longer;
      answered(answer.get(0), sentNanos);
    }
    ensureValid();
    renewed |= terms.renewed();
    engine.scheduler().poke(dueNanos());
  }

  /** Whether any of the levels that are left wants renewal. */
  void renewWhile(boolean wanted) {
    renewed = wanted;
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
    engine.scheduler().remove(this);
    try {
      Reply reply = engine.commands().run(protocol.release(holder));
      long status = (Long) ((List<?>) reply.value()).get(0);
      if (status == 2) {
        lose(Reason.FORCED, engine.nanos(), "somebody took the lock by force", true);
      } else if (status == 0 && !reply.repeated()) {
        lose(
            Reason.GONE, engine.nanos(), "Redis did not know this hold when it was released", true);
      } else {
        standing.set(Standing.RELEASED);
      }
    } catch (Fault fault) {
      standing.set(Standing.RELEASED);
      engine.releases().abandon(protocol, holder, leaseEndNanos());
      throw fault;
    } finally {
      onEnd.run();
    }
    if (doubtUntilNanos != 0) {
      engine.releases().abandon(protocol, holder, doubtUntilNanos);
    }
    throwIfLost();
    return true;
  }

  /** When Redis itself ends the hold, as far as is known here. */
  long leaseEndNanos() {
    return deadlineNanos + Terms.driftNanos(leaseMillis * 1_000_000);
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
      throw engine.releases().unconfirmed(protocol.name(), fault, leaseEndNanos());
    }
  }

  /** Throws the loss, if it is one. For the thread that owns the hold. */
  void throwIfLost() {
    LeaseLoss loss = standingNow().loss();
    if (loss != null) {
      throw new LeaseLostException(loss);
    }
  }

  ScriptCall releaseCall() {
    return protocol.release(holder);
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
  public void onLost(Consumer<LeaseLoss> listener) {
    phaseNow();
    events.onLost(listener);
  }

  @Override
  public void onStateChange(Consumer<State> listener) {
    events.onStateChange(listener);
  }

  @Override
  public String toString() {
    return "lease of '%s', token %d, %s".formatted(protocol.name(), token, current().phase());
  }
}
