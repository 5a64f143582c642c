package io.mortise.core.internal.lease;

import static io.mortise.scripts.ScriptCall.bytes;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.Reply;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockException;
import io.mortise.core.internal.lease.LeaseStatus.Phase;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.OwnedLease;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
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
 * <p><b>Threads.</b> The standing changes in {@link LeaseStateMachine}, and who makes it LOST or
 * RELEASING does the rest, in {@link LeaseTermination}. Time is the {@link LeaseRenewal}'s. Anybody
 * who looks after the deadline makes the hold lost, so nobody can see a hold that is over.
 */
public final class RedisLease implements OwnedLease {
  /** The hash and the token have one layout in all families. */
  private static final Script RAISE = Script.load("lock/raise");

  private final LeaseContext context;
  private final LockProtocol protocol;
  private final String holder;
  private final @Nullable Thread owner;
  private final LeaseStateMachine state;
  private final LeaseTermination end;
  private final LeaseRenewal renewal;
  private final long lastToken;
  private final AtomicLong token;

  private final long firstToken;

  public RedisLease(
      LeaseContext context,
      LockProtocol protocol,
      String holder,
      AcquireResult.Acquired acquired,
      @Nullable Thread owner,
      LeaseTerms terms,
      AttemptStart sent) {
    this.context = context;
    this.protocol = protocol;
    this.holder = holder;
    this.firstToken = acquired.fencingToken();
    this.token = new AtomicLong(firstToken);
    this.lastToken = acquired.lastToken();
    this.owner = owner;
    this.state = new LeaseStateMachine(protocol.name().value(), context.tasks()::run);
    this.end = new LeaseTermination(context, this, state);
    this.renewal = new LeaseRenewal(context, this, protocol, holder, owner, terms, sent);
  }

  /** Continues a hold that another thread of this client has left, with the next token. */
  public RedisLease(
      LeaseContext context,
      LockProtocol protocol,
      TransferableHold tenure,
      @Nullable Thread owner,
      LeaseTerms terms) {
    this.context = context;
    this.protocol = protocol;
    this.holder = tenure.holder();
    this.firstToken = tenure.token() + 1;
    this.token = new AtomicLong(firstToken);
    this.lastToken = tenure.token();
    this.owner = owner;
    this.state = new LeaseStateMachine(protocol.name().value(), context.tasks()::run);
    this.end = new LeaseTermination(context, this, state);
    this.renewal = new LeaseRenewal(context, this, protocol, owner, terms, tenure);
    this.end.reserveTokens(tenure.reserve());
  }

  public LeaseContext context() {
    return context;
  }

  public LockProtocol protocol() {
    return protocol;
  }

  public String holder() {
    return holder;
  }

  /** Held, and nothing about it is open. */
  public boolean isSettled() {
    return phaseNow() == Phase.HELD && renewal.isSettled();
  }

  @Nullable Thread owner() {
    return owner;
  }

  public LeaseRenewal renewal() {
    return renewal;
  }

  /** How it ends. */
  public LeaseTermination end() {
    return end;
  }

  public ScriptCall releaseCall() {
    return protocol.release(holder);
  }

  // ---- where it stands

  private LeaseStatus standingNow() {
    LeaseStatus s = state.now();
    return s.isLive() && expireIfDue() ? state.now() : s;
  }

  /** Makes the hold lost if its time is over, which nothing can lengthen then; whether it is. */
  boolean expireIfDue() {
    LeaseDeadline deadline = renewal.deadline();
    if (!deadline.expire(context.nanos())) {
      return false;
    }
    end.lose(Reason.EXPIRED, deadline.nanos(), renewal.whyExpired());
    return true;
  }

  /** Sees whether its time is over. */
  void checkDeadline() {
    standingNow();
  }

  /** Held, and nobody is about to release it. */
  public boolean isLive() {
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
    state.renewedInTime();
  }

  // ---- release

  @Override
  public void release() {
    if (!end.release()) {
      context.scheduler().remove(renewal);
    }
    state.throwIfLost();
  }

  @Override
  public void close() {
    state.ensureHandle(owner);
    state.throwLossOnClose(end.release());
  }

  // ---- what its keeper asks

  @Override
  public void extendTo(LeaseTerms terms) {
    try {
      renewal.extendTo(terms);
    } catch (CommandException fault) {
      throw LockExceptions.from(
          fault, protocol.name(), "held, but could not be lengthened for the re-entry");
    }
    ensureValid();
  }

  @Override
  public void stopRenewal(String why) {
    renewal.end(why);
  }

  @Override
  public boolean isRenewed() {
    return renewal.isRenewed();
  }

  @Override
  public boolean covers(LeaseTerms terms) {
    return renewal.covers(terms);
  }

  @Override
  public void requestVerification() {
    renewal.requestVerification();
  }

  @Override
  public void verifyNow() {
    try {
      renewal.verifyNow();
    } catch (CommandException fault) {
      throw LockExceptions.from(fault, protocol.name(), "held, but could not be confirmed");
    }
    ensureValid();
  }

  @Override
  public void setRenewed(boolean wanted) {
    renewal.setRenewed(wanted);
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
      return onTokenRaised(context.commands().run(raiseCall(atLeast)), atLeast);
    } catch (CommandException fault) {
      throw tokenRaiseFailed(fault);
    }
  }

  /** Whether it has another token than it began with. */
  boolean wasRaised() {
    return token.get() != firstToken;
  }

  ScriptCall raiseCall(long atLeast) {
    LockName name = protocol.name();
    return new ScriptCall(
        RAISE,
        List.of(bytes(name.value()), bytes(name.tokenKey())),
        List.of(
            bytes(protocol.hashField(holder)),
            bytes(atLeast),
            bytes(context.options().tokenRetention().toMillis())));
  }

  boolean onTokenRaised(Reply reply, long atLeast) {
    boolean held = (Long) reply.value() == 1;
    if (held) {
      token.accumulateAndGet(atLeast, Math::max);
    }
    return held;
  }

  LockException tokenRaiseFailed(CommandException fault) {
    return LockExceptions.from(
        fault, protocol.name(), "held, but its fencing token could not be raised");
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
        : Duration.ofNanos(Math.max(0, renewal.deadlineNanos() - context.nanos()));
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
  public Runnable onChangeWhileHeld(Consumer<State> listener, boolean tells) {
    return state.onChangeWhileHeld(listener, tells);
  }

  @Override
  public String toString() {
    return "lease of '%s', token %d, %s".formatted(protocol.name(), token.get(), state);
  }
}
