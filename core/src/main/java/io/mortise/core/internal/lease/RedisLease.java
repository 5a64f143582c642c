package io.mortise.core.internal.lease;

import io.mortise.connection.command.ScriptExecutor;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.internal.event.AcquisitionEvents;
import io.mortise.core.internal.lease.LeaseStatus.Phase;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;
import io.mortise.scripts.ScriptCall;
import java.time.Duration;
import java.util.function.BooleanSupplier;
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
 * <p>Each part does one thing and knows only the parts that it needs; none knows this class. {@link
 * LeaseStateMachine} keeps the status, {@link LeaseTiming} the times, {@link FencingToken} the
 * token; {@link LossDetector} finds the hold lost; {@link LeaseRenewal} renews it in the
 * background, {@link LeaseExtension} on the caller's thread; {@link LeaseRelease} releases it, and
 * {@link LeaseTermination} does what every end needs.
 *
 * <p><b>Threads.</b> Any thread may call any method. The status changes in {@link
 * LeaseStateMachine}; the thread that makes it LOST or RELEASING does the rest. Any thread that
 * reads the status after the deadline makes the hold lost, so no thread can see a hold that is
 * over.
 */
public final class RedisLease extends StatefulLease implements RedisHold, RegisteredHold {
  private final LeaseContext context;
  private final HoldIdentity id;
  private final FencingToken token;
  private final LeaseTiming timing;
  private final LossDetector losses;
  private final LeaseRenewal renewal;
  private final LeaseTermination termination;
  private final LeaseRelease releasing;

  private RedisLease(
      LeaseContext context, HoldIdentity id, FencingToken token, LeaseTiming timing) {
    super(new LeaseStateMachine(id.lockName(), context.notifications()));
    this.context = context;
    this.id = id;
    this.token = token;
    this.timing = timing;
    this.losses = new LossDetector(context.ticker(), timing, state, this);
    this.renewal = new LeaseRenewal(context, id, timing, state, losses, this);
    this.termination =
        new LeaseTermination(
            context.releases(),
            new LeaseSlot(context.options().tuning(), context.ticker(), context.closing()),
            id,
            token,
            timing,
            state,
            renewal);
    this.releasing =
        new LeaseRelease(context, id, token, timing, state, losses, renewal, termination, this);
  }

  public static RedisLease granted(
      LeaseContext context,
      LockProtocol protocol,
      String holder,
      AcquireResult.Acquired acquired,
      @Nullable Thread owner,
      LeaseTerms terms,
      AttemptStart sent) {
    HoldIdentity id = new HoldIdentity(protocol, holder, owner);
    return new RedisLease(
        context,
        id,
        token(context, id, acquired.fencingToken(), acquired.lastToken()),
        LeaseTiming.granted(context, protocol, terms, sent));
  }

  /** Continues a hold that another thread of this client has handed off, with the next token. */
  public static RedisLease handedOff(
      LeaseContext context,
      LockProtocol protocol,
      TransferableHold hold,
      @Nullable Thread owner,
      LeaseTerms terms) {
    HoldIdentity id = new HoldIdentity(protocol, hold.holder(), owner);
    RedisLease lease =
        new RedisLease(
            context,
            id,
            token(context, id, hold.token() + 1, hold.token()),
            LeaseTiming.handedOff(context, protocol, terms, hold));
    lease.termination.slot().reserveTokens(hold.reserve());
    return lease;
  }

  private static FencingToken token(LeaseContext context, HoldIdentity id, long first, long last) {
    return new FencingToken(
        context.commands(), context.options().tuning().tokenRetention(), id, first, last);
  }

  @Override
  public LeaseContext context() {
    return context;
  }

  /** Returns what sends the commands of this hold: the same for all holds of one client. */
  ScriptExecutor commands() {
    return context.commands();
  }

  @Override
  public RedisLease inRedis() {
    return this;
  }

  @Override
  public String holder() {
    return id.holder();
  }

  @Override
  public boolean pin() {
    return termination.slot().pin(this::isLive);
  }

  @Override
  public long lastReservedToken() {
    return termination.slot().lastReservedToken();
  }

  /** Returns the thread that owns the hold; null for a handle, and for a hold that is shared. */
  public @Nullable Thread owner() {
    return id.owner();
  }

  /** Returns the part that ends this hold. */
  public LeaseTermination termination() {
    return termination;
  }

  LeaseRelease releasing() {
    return releasing;
  }

  FencingToken token() {
    return token;
  }

  // ---- for those who share or register the hold

  /** Returns whether the hold is held without open questions: no failed or pending request. */
  public boolean isSettled() {
    return losses.statusNow().phase() == Phase.HELD && renewal.isSettled();
  }

  /** Marks the hold as shared by threads; {@code dead} tests whether all of them have died. */
  public void setShared(BooleanSupplier dead) {
    renewal.setShared(dead);
  }

  /** Returns the moment before the request with which Redis last confirmed the hold. */
  public long confirmedNanos() {
    return timing.confirmedNanos();
  }

  /** Returns the time until which the hold is certain. Changes nothing when it has passed. */
  public long deadlineNanos() {
    return timing.deadlineNanos();
  }

  @Override
  public ScriptCall releaseCall() {
    return releasing.call();
  }

  @Override
  public boolean lose(Reason reason, long atNanos, String detail) {
    return termination.lose(reason, atNanos, detail);
  }

  @Override
  public void discard() {
    termination.discard();
  }

  @Override
  public void drop() {
    releasing.drop();
  }

  @Override
  public void releaseInBackground() {
    releasing.drop();
  }

  // ---- for events

  @Override
  public void reportTo(AcquisitionEvents events) {
    events.acquired(this, termination.slot().wasHandedOff());
    reportRenewals(events);
    state.onEnd(events.onEnd());
  }

  /** Reports late renewals from now on. */
  public void reportRenewals(AcquisitionEvents events) {
    renewal.reportTo(events);
  }

  // ---- called by the scheduler

  @Override
  public long dueNanos() {
    return renewal.dueNanos();
  }

  @Override
  public long mayRunAtNanos() {
    return renewal.mayRunAtNanos();
  }

  @Override
  public void onDue(long nowNanos) {
    if (releasing.isBroken()) { // an error kept it from being entered
      context.completions().begin(releasing);
      context.holds().forget(this);
      return;
    }
    Phase phase = losses.statusNow().phase();
    if (phase == Phase.RELEASED // an error came between its release and the registry
        || (phase == Phase.LOST && termination.completeLoss(nowNanos))) {
      context.holds().forget(this);
    } else if (phase != Phase.LOST) {
      renewal.onDue(nowNanos);
    }
  }

  // ---- status

  @Override
  protected void refresh() {
    var unused = losses.statusNow();
  }

  @Override
  protected Duration remainingWhileHeld() {
    return Duration.ofNanos(Math.max(0, timing.deadlineNanos() - context.nanos()));
  }

  // ---- release

  @Override
  public void release() {
    if (!releasing.release()) {
      termination.completeEnd(); // it stays in the scheduler until its listeners are notified
    }
    state.throwIfLost();
  }

  @Override
  public void close() {
    state.ensureHandle(id.owner());
    state.throwLossOnClose(releasing.release());
  }

  // ---- for the layer that keeps the hold

  /** Made when it is needed: most holds are never extended, and many are kept. */
  private LeaseExtension extension() {
    return new LeaseExtension(
        context.commands(), context.holds(), context.ticker(), id, timing, renewal);
  }

  @Override
  public void extendTo(LeaseTerms terms) {
    extension().extendTo(terms);
    ensureValid();
  }

  @Override
  public void stopRenewal(String why) {
    renewal.stop(why);
  }

  @Override
  public long sinceNanos() {
    return timing.sinceNanos();
  }

  @Override
  public void keepUntil(long nanos) {
    timing.minimum().extendTo(nanos);
  }

  @Override
  public void waiveMinimum() {
    timing.minimum().waive();
  }

  @Override
  public boolean isRenewed() {
    return timing.isRenewed();
  }

  @Override
  public boolean covers(LeaseTerms terms) {
    return timing.covers(terms);
  }

  @Override
  public void requestVerification() {
    renewal.requestVerification();
  }

  @Override
  public void verifyNow() {
    extension().verifyNow();
    ensureValid();
  }

  @Override
  public void verifyQuietly() {
    extension().verifyQuietly();
  }

  @Override
  public void setRenewed(boolean wanted) {
    timing.setRenewed(wanted);
  }

  @Override
  public long lastToken() {
    return token.last();
  }

  @Override
  public boolean raiseToken(long atLeast) {
    return token.get() >= atLeast ? isValid() : token.raise(atLeast);
  }

  // ---- for the holder

  @Override
  public String lockName() {
    return id.lockName();
  }

  @Override
  public long fencingToken() {
    return token.get();
  }

  @Override
  public String toString() {
    return "lease of '%s', token %d, %s".formatted(id.lockName(), token.get(), state);
  }
}
