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
 * One hold, from the reply that granted it to its end.
 *
 * <pre>
 *             renewal fails            renewal succeeds
 *        HELD ------------> AT_RISK -------------------> HELD
 *          |                   |
 *          +---------+---------+- deadline passed, forced, missing, client closed --> LOST
 *                    |                                                                ^
 *                    | close, unlock                                                  |
 *                    v                 Redis says: the hold is missing                |
 *               RELEASING ------------------------------------------------------------+
 *                    |
 *                    +---- Redis says: released; or gives no reply ------------------> RELEASED
 * </pre>
 *
 * <p>{@link LeaseStateMachine} keeps the status, {@link LeaseTermination} ends the hold, {@link
 * LeaseRenewal} keeps its time.
 *
 * <p><b>Threads.</b> Any thread may call any method. The status changes in {@link
 * LeaseStateMachine}; the thread that makes it LOST or RELEASING does the rest, in {@link
 * LeaseTermination}. Any thread that reads the status after the deadline makes the hold lost, so no
 * thread can see a hold that is over.
 */
public final class RedisLease implements OwnedLease {
  /** The script for all families: the layout of hash and token is the same. */
  private static final Script RAISE = Script.load("lock/raise");

  private final LeaseContext context;
  private final LockProtocol protocol;
  private final String holder;
  private final @Nullable Thread owner;
  private final LeaseStateMachine state;
  private final LeaseTermination termination;
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
    this.termination = new LeaseTermination(context, this, state);
    this.renewal = new LeaseRenewal(context, this, protocol, holder, owner, terms, sent);
  }

  /** Continues a hold that another thread of this client has handed off, with the next token. */
  public RedisLease(
      LeaseContext context,
      LockProtocol protocol,
      TransferableHold hold,
      @Nullable Thread owner,
      LeaseTerms terms) {
    this.context = context;
    this.protocol = protocol;
    this.holder = hold.holder();
    this.firstToken = hold.token() + 1;
    this.token = new AtomicLong(firstToken);
    this.lastToken = hold.token();
    this.owner = owner;
    this.state = new LeaseStateMachine(protocol.name().value(), context.tasks()::run);
    this.termination = new LeaseTermination(context, this, state);
    this.renewal = new LeaseRenewal(context, this, protocol, owner, terms, hold);
    this.termination.reserveTokens(hold.reserve());
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

  /** Returns whether the hold is held without open questions: no failed or pending request. */
  public boolean isSettled() {
    return phaseNow() == Phase.HELD && renewal.isSettled();
  }

  @Nullable Thread owner() {
    return owner;
  }

  public LeaseRenewal renewal() {
    return renewal;
  }

  /** Returns the part that ends this hold. */
  public LeaseTermination termination() {
    return termination;
  }

  public ScriptCall releaseCall() {
    return protocol.release(holder);
  }

  // ---- status

  private LeaseStatus statusNow() {
    LeaseStatus status = state.now();
    return status.isLive() && expireIfDue() ? state.now() : status;
  }

  /**
   * Makes the hold lost if its deadline has passed, after which nothing can extend it; returns
   * whether it has.
   */
  boolean expireIfDue() {
    LeaseDeadline deadline = renewal.deadline();
    if (!deadline.expire(context.nanos())) {
      return false;
    }
    termination.lose(Reason.EXPIRED, deadline.nanos(), renewal.whyExpired());
    return true;
  }

  /** Makes the hold lost if its deadline has passed. */
  void checkDeadline() {
    statusNow();
  }

  /** Returns whether the hold is held and no release has begun. */
  public boolean isLive() {
    return statusNow().isLive();
  }

  /** Returns the phase without reading the clock. */
  Phase phase() {
    return state.now().phase();
  }

  Phase phaseNow() {
    return statusNow().phase();
  }

  /** Records that a renewal is late or has failed. */
  boolean atRisk() {
    return state.atRisk();
  }

  /** Records that Redis has confirmed the hold. */
  void confirmed() {
    state.renewedInTime();
  }

  // ---- release

  @Override
  public void release() {
    if (!termination.release()) {
      context.scheduler().remove(renewal);
    }
    state.throwIfLost();
  }

  @Override
  public void close() {
    state.ensureHandle(owner);
    state.throwLossOnClose(termination.release());
  }

  // ---- for the layer that keeps the hold

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
    renewal.stop(why);
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

  /** Returns whether the token was raised since the hold began. */
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

  // ---- for the holder

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
    return statusNow().state();
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
    statusNow();
    return state.loss();
  }

  @Override
  public void ensureValid() {
    statusNow();
    state.ensureValid(token.get());
  }

  @Override
  public void onLost(Consumer<LeaseLoss> listener) {
    statusNow(); // a loss that was not detected yet is notified at once
    state.onLost(listener);
  }

  @Override
  public void onStateChange(Consumer<State> listener) {
    state.onStateChange(listener);
  }

  @Override
  public Runnable onChangeWhileHeld(Consumer<State> listener, boolean listenerLogs) {
    return state.onChangeWhileHeld(listener, listenerLogs);
  }

  @Override
  public String toString() {
    return "lease of '%s', token %d, %s".formatted(protocol.name(), token.get(), state);
  }
}
