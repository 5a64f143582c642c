package io.mortise.core.internal;

import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockException;
import io.mortise.core.internal.RedisNode.Reply;
import io.mortise.core.internal.Standing.Phase;
import io.mortise.core.internal.Tenure.Reserve;
import io.mortise.core.spi.Attempt;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.OwnedLease;
import io.mortise.core.spi.ScriptCall;
import io.mortise.core.spi.Terms;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
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
 * <p><b>Threads.</b> Whoever makes the change to LOST or RELEASING, in {@link LeaseState}, does
 * what belongs to it, once: takes the hold out of the scheduler and passes the gate on. Time is the
 * {@link Renewal}'s. Anybody who looks after the deadline makes the hold lost, so nobody can see a
 * hold that is over. When a renewed hold has expired, Redis may have lengthened it just then; it is
 * released in the background, so that nobody waits for it.
 */
final class LeaseHandle implements OwnedLease {
  static final String BY_FORCE = "somebody took the lock by force";

  private final Engine engine;
  private final LockProtocol protocol;
  private final String holder;
  private final @Nullable Thread owner;
  private final LeaseState state;
  private final Renewal renewal;
  private final long lastToken;
  private final AtomicLong token;

  /** A token that was raised is beyond those that were reserved. */
  private final long firstToken;

  /**
   * What is still to be done when the hold ends: the gate's permit. Set before the lease is
   * published, taken by whoever does it.
   */
  private final AtomicReference<@Nullable Turn> turn = new AtomicReference<>();

  /** With what the hold may pass on. Set before the lease is published. */
  private Reserve reserve = Reserve.NONE;

  /** Attempts before the one that was granted. */
  private Doubt doubt = Doubt.NONE;

  LeaseHandle(
      Engine engine,
      LockProtocol protocol,
      String holder,
      Attempt.Acquired acquired,
      @Nullable Thread owner,
      Terms terms,
      long sentNanos) {
    this.engine = engine;
    this.protocol = protocol;
    this.holder = holder;
    this.firstToken = acquired.fencingToken();
    this.token = new AtomicLong(firstToken);
    this.lastToken = acquired.lastToken();
    this.owner = owner;
    this.state = new LeaseState(protocol.name().value(), engine::soon);
    this.renewal = new Renewal(engine, this, protocol, holder, owner, terms, sentNanos);
  }

  /** The hold of the one before, with the next token. */
  static LeaseHandle continuing(
      Engine engine, LockProtocol protocol, Tenure tenure, @Nullable Thread owner, Terms terms) {
    LeaseHandle lease =
        new LeaseHandle(
            engine,
            protocol,
            tenure.holder(),
            new Attempt.Acquired(tenure.token() + 1, tenure.token()),
            owner,
            terms,
            engine.nanos());
    lease.renewal.continues(tenure);
    lease.reserve = tenure.reserve();
    return lease;
  }

  /** The hold may pass on to those who wait, with so many tokens, this one's included. */
  void reserve(int tokens) {
    if (tokens > 1) {
      reserve = new Reserve(token.get() + tokens - 1, engine.nanos(), 0);
    }
  }

  void keep(Turn place) {
    turn.set(place);
  }

  void doubt(Doubt attempts) {
    doubt = attempts;
  }

  Engine engine() {
    return engine;
  }

  LockProtocol protocol() {
    return protocol;
  }

  String holder() {
    return holder;
  }

  /** Held, and nothing about it is open. */
  boolean isSettled() {
    return phaseNow() == Phase.HELD && renewal.isSettled();
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

  private Standing standingNow() {
    Standing s = state.now();
    if (s.isLive() && engine.nanos() - renewal.deadlineNanos() >= 0) {
      lose(Reason.EXPIRED, renewal.deadlineNanos(), renewal.whyExpired());
      return state.now();
    }
    return s;
  }

  /** Held, and nobody is about to release it. */
  boolean isLive() {
    return standingNow().isLive();
  }

  /** The phase, without a look at the clock. */
  Phase phase() {
    return state.now().phase();
  }

  Phase phaseNow() {
    return standingNow().phase();
  }

  /** A renewal is late. */
  boolean atRisk() {
    return state.atRisk();
  }

  /** Redis has said that the hold is there. */
  void confirmed() {
    state.onTime();
  }

  /** Ends the hold as lost, unless it has ended already or is being released. */
  boolean lose(Reason reason, long atNanos, String detail) {
    try {
      if (!state.lose(lost(reason, atNanos, detail))) {
        return false;
      }
      if (owner == null) {
        engine.scheduler().remove(renewal);
      } else {
        renewal.awaitOwner();
      }
    } finally {
      passOn();
    }
    if (doubt.exists() || (reason == Reason.EXPIRED && renewal.isRenewed())) {
      abandon();
    }
    return true;
  }

  /**
   * Does what is to be done when the hold has ended, once, whoever sees that it has. In a {@code
   * finally} wherever one ends: an error on the way, such as one for want of a thread, must not
   * keep the line of its name closed for ever.
   */
  private void passOn() {
    Phase phase = phase();
    if (phase == Phase.LOST || phase == Phase.RELEASED) {
      Turn mine = turn.getAndSet(null);
      if (mine != null) {
        mine.end();
      }
    }
  }

  private LeaseLoss lost(Reason reason, long atNanos, String detail) {
    return new LeaseLoss(lockName(), token.get(), reason, atNanos, detail);
  }

  // ---- release

  @Override
  public void release() {
    if (!tryRelease()) {
      engine.scheduler().remove(renewal);
    }
    state.throwIfLost();
  }

  /** Releases, once; whether it was this call that did. */
  private boolean tryRelease() {
    if (!releaseBegins()) {
      return false;
    }
    try {
      if (!handOver(engine.releases()::now)) {
        releaseEnds(engine.commands().run(releaseCall()));
      }
      return true;
    } catch (Fault fault) {
      throw releaseFails(fault);
    } finally {
      releaseIsOver();
    }
  }

  /**
   * Passes the hold on to the next thread in line, if there is one and the hold may: it is beyond
   * doubt, and has not passed on too often or for too long. Redis is not told.
   *
   * @param orphaned releases what was passed on, if nobody is there any more to take it
   */
  boolean handOver(BiConsumer<LockProtocol, Tenure> orphaned) {
    Turn mine = turn.get();
    if (mine == null || !mine.isAwaited() || !mayPassOn()) {
      return false;
    }
    long epoch = engine.epoch();
    if (!renewal.isSettled()) {
      return false;
    }
    Tenure tenure = renewal.tenure(token.get(), reserve.next(), epoch);
    turn.set(null); // while RELEASING nobody else takes it
    Tenure orphan;
    try {
      state.releaseEnds(null);
    } finally {
      orphan = mine.end(tenure);
    }
    if (orphan != null) {
      orphaned.accept(protocol, orphan);
    }
    return true;
  }

  private boolean mayPassOn() {
    return !doubt.exists()
        && token.get() < reserve.lastToken()
        && token.get() == firstToken
        && reserve.passes() < engine.options().handOvers()
        && engine.nanos() - reserve.sinceNanos() < engine.options().handOverTime().toNanos()
        && !engine.isClosed();
  }

  /**
   * Whether the hold is the caller's to release: then one of the two that follow has to be called,
   * and {@link #releaseIsOver} in any case.
   */
  boolean releaseBegins() {
    standingNow();
    engine.underway().begin();
    if (!state.releaseBegins()) {
      engine.underway().end();
      return false;
    }
    engine.scheduler().remove(renewal);
    return true;
  }

  /**
   * Redis has answered the release.
   *
   * @throws LockException if it is in doubt whether the hold was still there
   */
  void releaseEnds(Reply reply) {
    LockException inDoubt = null;
    try {
      inDoubt = released(reply);
    } finally {
      passOn();
    }
    if (doubt.exists()) {
      engine.releases().abandon(protocol, holder, doubt);
    }
    if (inDoubt != null) {
      throw inDoubt;
    }
  }

  /**
   * Redis has not answered the release, which goes on in the background; what to tell the caller.
   */
  LockException releaseFails(Fault fault) {
    try {
      state.releaseEnds(null);
      abandon();
    } finally {
      passOn();
    }
    return engine.releases().unconfirmed(protocol.name(), fault, renewal.endInRedisNanos());
  }

  /** What began to be released and came to no end, because of an error: as without an answer. */
  void releaseIsOver() {
    try {
      if (phase() == Phase.RELEASING) {
        state.releaseEnds(null);
        abandon();
      }
    } finally {
      passOn();
      engine.underway().end();
    }
  }

  /** What Redis may still hold is released in the background. */
  private void abandon() {
    engine.releases().abandon(protocol, holder, doubt.another(renewal.endInRedisNanos()));
  }

  private @Nullable LockException released(Reply reply) {
    List<?> answer = (List<?>) reply.value();
    long status = (Long) answer.get(0);
    LeaseLoss loss = null;
    LockException inDoubt = null;
    if (status == 2) {
      loss = lost(Reason.FORCED, engine.nanos(), BY_FORCE);
    } else if (status == 0 && !reply.repeated()) {
      loss = lost(Reason.GONE, engine.nanos(), "Redis did not know this hold when it was released");
    } else if (status == 0) {
      inDoubt = engine.releases().inDoubt(protocol.name(), reply);
    } else if (status == 1 && (Long) answer.get(1) < 0) {
      Engine.LOG.warn(
          "lock '{}': released, but who waits could not be told; the user needs the right to its"
              + " channel",
          protocol.name());
    }
    state.releaseEnds(loss);
    if (status == 1 && protocol.passesOn()) {
      long heard = (Long) answer.get(1);
      if (heard > 0 && engine.wakeups().isHeard(protocol.channel(holder))) {
        heard--; // this client itself
      }
      engine.courtesy().released(protocol, heard, engine.nanos());
    }
    return inDoubt;
  }

  @Override
  public void close() {
    state.ensureNobodys(owner);
    state.throwAtClose(tryRelease());
  }

  // ---- what its keeper asks

  @Override
  public void need(Terms terms) {
    try {
      renewal.need(terms);
    } catch (Fault fault) {
      throw fault.forCaller(protocol.name(), "held, but could not be lengthened for the re-entry");
    }
  }

  @Override
  public boolean covers(Terms terms) {
    return renewal.covers(terms);
  }

  @Override
  public void verify() {
    renewal.verify();
  }

  @Override
  public void confirm() {
    try {
      renewal.confirm();
    } catch (Fault fault) {
      throw fault.forCaller(protocol.name(), "held, but could not be confirmed");
    }
    ensureValid();
  }

  @Override
  public void renewWhile(boolean wanted) {
    renewal.renewWhile(wanted);
  }

  @Override
  public long lastToken() {
    return lastToken;
  }

  @Override
  public boolean raiseToken(long atLeast) {
    if (token.get() >= atLeast) {
      return isValid();
    }
    try {
      return raised(engine.commands().run(raiseCall(atLeast)), atLeast);
    } catch (Fault fault) {
      throw raiseFails(fault);
    }
  }

  ScriptCall raiseCall(long atLeast) {
    return engine.raise(protocol, holder, atLeast);
  }

  boolean raised(Reply reply, long atLeast) {
    boolean held = (Long) reply.value() == 1;
    if (held) {
      token.accumulateAndGet(atLeast, Math::max);
    }
    return held;
  }

  LockException raiseFails(Fault fault) {
    return fault.forCaller(protocol.name(), "held, but its fencing token could not be raised");
  }

  // ---- what callers ask

  @Override
  public String lockName() {
    return protocol.name().value();
  }

  @Override
  public long fencingToken() {
    return token.get();
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
    standingNow();
    return state.loss();
  }

  @Override
  public void ensureValid() {
    standingNow();
    state.ensureValid(token.get());
  }

  @Override
  public void onLost(Consumer<LeaseLoss> listener) {
    standingNow(); // a loss that nobody has seen yet is told at once
    state.onLost(listener);
  }

  @Override
  public void onStateChange(Consumer<State> listener) {
    state.onStateChange(listener);
  }

  @Override
  public void onChangeWhileHeld(Consumer<State> listener) {
    state.onChangeWhileHeld(listener);
  }

  @Override
  public String toString() {
    return "lease of '%s', token %d, %s".formatted(protocol.name(), token.get(), state);
  }
}
