package io.mortise.core.internal.lease;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.mortise.connection.command.BatchCollector;
import io.mortise.connection.command.ScriptPipeline;
import io.mortise.connection.concurrent.Scheduler;
import io.mortise.connection.pool.CommandException;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.internal.lease.LeaseStatus.Phase;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;
import io.mortise.scripts.ScriptCall;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How long a hold is sure, and what is done to keep it so: its deadline, its renewal, and the
 * question whether Redis still knows it, which is put for holds too that are not renewed.
 *
 * <p><b>Threads.</b> The scheduler asks ({@code onTime}), a worker brings the answer, the owner may
 * lengthen the hold at the same time ({@code need}). The {@link LeaseDeadline} only grows: each
 * answer counts from the moment before <em>its</em> request and for the lease that <em>this</em>
 * request named, and the later of two ends stands; the scripts too never shorten. What a request
 * may set is noted before it is sent, so a lost answer leaves nothing behind that nobody releases.
 * At most one batched request is under way ({@code inFlight}). An answer after the hold's end
 * changes nothing here.
 *
 * <p><b>The epoch</b> of a hold is the client's from before the request that granted or last
 * confirmed it: another one means that something may have happened to the hold since then.
 */
public final class LeaseRenewal implements Scheduler.ScheduledTask, BatchCollector.Item {
  /**
   * How long all that is done past the end of a wait may take together: the last attempt, and
   * leaving a queue. The round trip of a slow network.
   */
  public static final long ROUND_TRIP_NANOS = 200_000_000L;

  private static final Logger LOG = LoggerFactory.getLogger(LeaseRenewal.class);
  private static final long OWNER_CHECK_NANOS = 30_000_000_000L;
  private static final long RETRY_NANOS = 20_000_000L;
  private static final long LEAST_TIMEOUT_NANOS = 100_000_000L;

  /** Those for whom a hold is kept, when it is not for one thread. */
  public interface Owners {
    /** Whether all of them have died without giving it up. */
    boolean areDead();
  }

  private final LeaseContext context;
  private final RedisLease lease;
  private final LockProtocol protocol;
  private final String holder;
  private final @Nullable Thread owner;
  private final long acquiredNanos;
  private final LeaseDeadline deadline;
  private volatile @Nullable Owners owners;

  /** What a renewal asks for. */
  private volatile long leaseMillis;

  /** Whether the hold is renewed until it is released. */
  private volatile boolean renewed;

  private volatile long askNanos;
  private volatile boolean inFlight;

  /** Whether to ask again at once when the request under way has been answered. */
  private volatile boolean doubted;

  /** Whether the last renewal had no answer. */
  private volatile boolean failing;

  private volatile long inFlightMillis;
  private volatile long inFlightEpoch;

  /** Of the client, before the request that granted the hold or last confirmed it. */
  private volatile long epoch;

  /** Redis has had the hold at least once since then. */
  private volatile long confirmedNanos;

  /** Why nobody renews the hold any more although its terms say so; empty while somebody does. */
  private volatile String endedBecause = "";

  LeaseRenewal(
      LeaseContext context,
      RedisLease lease,
      LockProtocol protocol,
      String holder,
      @Nullable Thread owner,
      LeaseTerms terms,
      AttemptStart sent) {
    this.context = context;
    this.lease = lease;
    this.protocol = protocol;
    this.holder = holder;
    this.owner = owner;
    this.acquiredNanos = sent.nanos();
    this.confirmedNanos = sent.nanos();
    this.epoch = sent.epoch();
    this.leaseMillis = terms.leaseMillis();
    this.renewed = terms.renewed();
    this.deadline = new LeaseDeadline(end(sent.nanos(), leaseMillis));
    this.askNanos = nextAsk(sent.nanos());
  }

  /** Continues a hold that another thread of this client has left. */
  LeaseRenewal(
      LeaseContext context,
      RedisLease lease,
      LockProtocol protocol,
      @Nullable Thread owner,
      LeaseTerms terms,
      TransferableHold tenure) {
    this.context = context;
    this.lease = lease;
    this.protocol = protocol;
    this.holder = tenure.holder();
    this.owner = owner;
    this.acquiredNanos = context.nanos();
    this.confirmedNanos = acquiredNanos;
    this.epoch = tenure.epoch();
    this.leaseMillis = terms.leaseMillis();
    this.renewed = terms.renewed();
    this.deadline = new LeaseDeadline(tenure.deadlineNanos());
    var unused = deadline.note(tenure.leaseMillis()); // it may have been renewed before
    this.askNanos = tenure.askNanos();
  }

  /** It is kept for several. */
  public void setSharers(Owners several) {
    owners = several;
  }

  /** Whether nothing about the hold is open: it is renewed, and has a good part of its lease. */
  boolean isSettled() {
    return renewed
        && !inFlight
        && !doubted
        && !failing
        && endedBecause.isEmpty()
        && !deadline.isOver()
        && deadline.notedMillis() <= leaseMillis
        && deadline.nanos() - context.nanos() > leaseNanos() / 3
        && epoch == context.holds().epoch();
  }

  /** The hold as it may pass on. */
  TransferableHold tenure(long token, TransferableHold.TokenReserve reserve) {
    return new TransferableHold(
        holder, deadlineNanos(), askNanos, leaseMillis, token, reserve, epoch);
  }

  private long end(long sentNanos, long millis) {
    long nanos = millis * 1_000_000;
    return sentNanos + nanos - context.drift().nanos(nanos);
  }

  private long leaseNanos() {
    return leaseMillis * 1_000_000;
  }

  /** A hold that is not renewed is asked for as often as one with the client's own lease. */
  private long intervalNanos() {
    long third = (renewed ? leaseNanos() : context.options().lease().toNanos()) / 3;
    return Math.min(third, MILLISECONDS.toNanos(protocol.maxRenewalIntervalMillis()));
  }

  private long nextAsk(long sentNanos) {
    return sentNanos + (long) (intervalNanos() * (0.9 + context.random() / 10));
  }

  RedisLease lease() {
    return lease;
  }

  /** Until when the hold is sure, and the one arbiter of that. */
  LeaseDeadline deadline() {
    return deadline;
  }

  /** Until when the hold is sure. */
  public long deadlineNanos() {
    return deadline.nanos();
  }

  /** What is left of the lease, in whole milliseconds, for a request that only asks. */
  private long leftMillis() {
    return Math.max(1, (deadline.nanos() - context.nanos()) / 1_000_000);
  }

  /** Before which request it was that Redis last said that the hold is there. */
  public long confirmedNanos() {
    return confirmedNanos;
  }

  /** After which Redis itself will have ended the hold, also if a renewal is just taking effect. */
  long endInRedisNanos() {
    long known = deadline.nanos() + context.drift().nanos(leaseNanos());
    long possible = context.nanos() + deadline.notedMillis() * 1_000_000;
    return deadline.mayOutlive() && possible - known > 0 ? possible : known;
  }

  boolean isRenewed() {
    return renewed;
  }

  /** Whether any of the levels of re-entry that are left wants renewal. */
  void setRenewed(boolean wanted) {
    renewed = wanted;
  }

  /** What to say of a hold whose time ran out. */
  String whyExpired() {
    if (!endedBecause.isEmpty()) {
      return "it was not renewed any more, because " + endedBecause;
    }
    return renewed
        ? "no renewal succeeded in the last %d ms; if Redis was reachable, this process was suspended"
            .formatted(leaseMillis)
        : "its lease of %d ms ran out; give a longer one, or none to have it renewed"
            .formatted(leaseMillis);
  }

  // ---- by the scheduler

  @Override
  public long dueNanos() {
    if (lease.phase() == Phase.LOST) {
      return askNanos;
    }
    long deadline = deadlineNanos();
    return mayAsk() && askNanos - deadline < 0 ? askNanos : deadline;
  }

  /** What is due within the last fifth of its interval goes along with what is due now. */
  @Override
  public long mayRunAtNanos() {
    if (!mayAsk()) {
      return dueNanos();
    }
    return switch (lease.phase()) {
      case HELD -> askNanos - intervalNanos() / 5;
      case AT_RISK -> askNanos - leaseNanos() / 40; // half the shortest pause after a fault
      default -> dueNanos();
    };
  }

  private boolean mayAsk() {
    return !inFlight && endedBecause.isEmpty();
  }

  @Override
  public void onDue(long nowNanos) {
    Phase phase = lease.phaseNow();
    if (phase == Phase.LOST) {
      // Its thread has still to unlock, unless it is dead.
      askNanos = nowNanos + OWNER_CHECK_NANOS;
      if (owner == null || !owner.isAlive()) {
        context.holds().forget(lease);
      }
    } else if ((phase == Phase.HELD || phase == Phase.AT_RISK) && mayAsk()) {
      if (owner != null && !owner.isAlive()) {
        end("its thread '" + owner.getName() + "' ended without unlocking");
      } else if (owners != null && owners.areDead()) {
        end("all threads that shared it ended without unlocking");
      } else if (nowNanos - acquiredNanos >= context.options().maxHold().toNanos()) {
        end("it was held for longer than LockOptions.maxHold");
      } else {
        ask(nowNanos);
      }
    }
  }

  private void ask(long nowNanos) {
    inFlightEpoch = context.holds().epoch();
    boolean lengthens = renewed;
    inFlightMillis = lengthens ? leaseMillis : leftMillis();
    if (lengthens ? !deadline.note(inFlightMillis) : deadline.isOver()) {
      return;
    }
    doubted = false;
    inFlight = true;
    boolean offered = false;
    try {
      context.batches().add(this);
      offered = true;
    } finally {
      if (!offered) { // an error, such as one for want of memory
        askNanos = nowNanos + RETRY_NANOS;
        inFlight = false;
      }
    }
  }

  /** Nobody renews the hold from now on: it ends with its lease, and is lost then. */
  void end(String why) {
    endedBecause = why;
    lease.atRisk();
    context
        .tasks()
        .run(
            () ->
                LOG.warn("lock '{}': the hold is not renewed any more: {}", protocol.name(), why));
  }

  /** A doubt that came meanwhile is not overwritten: it is read after the next time was set. */
  private void asksAtOnceIfDoubted() {
    if (doubted) {
      askNanos = context.nanos();
    }
  }

  /** Asks Redis soon whether the hold is still there; also after what is under way now. */
  public void requestVerification() {
    doubted = true;
    askNanos = context.nanos();
    context.scheduler().wakeBy(askNanos);
  }

  /** Asks Redis whether the hold is still there, and waits for the answer. */
  public void verifyQuietly() {
    try {
      verifyNow();
    } catch (CommandException fault) {
      LOG.debug("lock '{}': asked again soon", protocol.name(), fault);
      requestVerification();
    }
  }

  /** The same; a fault when there was no answer. */
  void verifyNow() throws CommandException {
    if (!deadline.isOver()) {
      exchange(leftMillis(), context.commands().timeoutNanos());
    }
  }

  private void exchange(long millis, long withinNanos) throws CommandException {
    long epochBefore = context.holds().epoch();
    long sentNanos = context.nanos();
    ScriptPipeline.Result answer =
        context
            .commands()
            .pipeline()
            .runBatch(List.of(protocol.renew(holder, millis)), withinNanos)
            .get(0);
    if (answer.fault() != null) {
      throw answer.fault();
    }
    if (!(answer.reply().value() instanceof Long said) || said < 0) {
      throw new CommandException(
          CommandException.Kind.NOT_READY, false, "the server refused to say", null);
    }
    onReply(said, sentNanos, millis, epochBefore);
  }

  /** To be called when the hold was lost by a thread's owner, which has still to unlock. */
  void scheduleOwnerCheck() {
    askNanos = context.nanos() + OWNER_CHECK_NANOS;
  }

  // ---- by a worker

  @Override
  public ScriptCall call() {
    return protocol.renew(holder, inFlightMillis);
  }

  @Override
  public long withinNanos() {
    return Math.max(LEAST_TIMEOUT_NANOS, leaseNanos() / 3);
  }

  @Override
  public void onReply(long answer, long sentNanos) {
    long millis = inFlightMillis;
    long epochBefore = inFlightEpoch;
    askNanos = nextAsk(sentNanos);
    inFlight = false;
    asksAtOnceIfDoubted();
    onReply(answer, sentNanos, millis, epochBefore);
    context.scheduler().wakeBy(dueNanos());
  }

  private void onReply(long answer, long sentNanos, long millis, long epochBefore) {
    if (answer == 1) {
      if (deadline.lengthen(end(sentNanos, millis))) {
        confirmedNanos = sentNanos;
        failing = false;
        epoch = epochBefore;
        lease.confirmed();
      }
    } else if (answer == 2) {
      lease.end().lose(Reason.FORCED, context.nanos(), LeaseTermination.BY_FORCE);
    } else if (!lease.expireIfDue()) { // what ran out meanwhile is no loss of data
      lease
          .end()
          .lose(
              Reason.MISSING,
              context.nanos(),
              "Redis does not know this hold any more; it lost its data, or the key was deleted");
    }
  }

  @Override
  public void onFailure(CommandException fault) {
    askNanos = context.nanos() + (long) (leaseNanos() / 10.0 * (0.5 + context.random() / 2));
    failing = true;
    inFlight = false;
    asksAtOnceIfDoubted();
    if (lease.atRisk()) {
      context
          .tasks()
          .run( // this may be the scheduler's thread
              () ->
                  LOG.warn("lock '{}': a renewal failed: {}", protocol.name(), fault.getMessage()));
    }
    context.scheduler().wakeBy(dueNanos());
  }

  // ---- by the owner

  /** Whether the hold lasts for at least the lease of these terms anyway. */
  boolean covers(LeaseTerms terms) {
    // What is renewed stays so while the outer level stands, which is longer than this one.
    long neededUntil = context.nanos() + terms.leaseMillis() * 1_000_000;
    return (renewed && terms.leaseMillis() <= leaseMillis) || deadlineNanos() - neededUntil >= 0;
  }

  /**
   * A re-entry needs the hold for at least its lease from now. One round trip if that is longer
   * than what is left, otherwise none; it takes no longer than the wait of the terms.
   */
  void extendTo(LeaseTerms terms) throws CommandException {
    if (!covers(terms) && deadline.note(terms.leaseMillis())) {
      exchange(terms.leaseMillis(), withinNanos(terms));
    }
    if (terms.renewed()) {
      leaseMillis = Math.max(leaseMillis, terms.leaseMillis());
      renewed = true;
    }
    long next = nextAsk(context.nanos());
    if (next - askNanos < 0) {
      askNanos = next;
    }
    asksAtOnceIfDoubted();
    context.scheduler().wakeBy(dueNanos());
  }

  private long withinNanos(LeaseTerms terms) {
    return terms.waitNanos() == 0
        ? context.commands().timeoutNanos()
        : Math.max(terms.waitNanos(), ROUND_TRIP_NANOS);
  }

  @Override
  public String toString() {
    return "renewal of " + lease;
  }
}
