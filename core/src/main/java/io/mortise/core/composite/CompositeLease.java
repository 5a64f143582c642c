package io.mortise.core.composite;

import io.mortise.core.LeaseLoss;
import io.mortise.core.internal.lease.LeaseStateMachine;
import io.mortise.core.internal.lease.LeaseStatus;
import io.mortise.core.internal.lease.LeaseStatus.Phase;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One hold made of holds of other locks, which stands while enough of them do: all, or a majority.
 *
 * <p>Each member renews itself and judges its own time. This one adds them up: it is valid while
 * {@code required} members are, at risk while fewer than that are on time, and sure for as long as
 * the weakest of the strongest {@code required} is.
 *
 * <p><b>Threads.</b> The members stand in {@link CompositeMembers}. The state is added up anew by
 * whoever looks, and by a thread of a client's after each change of a member, so a loss is told at
 * the latest when the member that decides has told its own. The change to LOST or RELEASING is made
 * once, in {@link LeaseStateMachine}, and whoever makes it gives the members back. A member that
 * comes after that is refused by {@link #join}.
 */
public abstract class CompositeLease implements OwnedLease {
  /** When to try again to start a thread. */
  private static final long NO_THREAD_NANOS = 200_000_000L;

  private final LeaseSource source;
  private final String name;
  private final @Nullable Thread owner;
  private final LeaseStateMachine state;
  private final AtomicLong token;
  private final CompositeMembers members;

  /** Ends the looking after each member. */
  private final Queue<Runnable> watches = new ConcurrentLinkedQueue<>();

  /** As it was asked for last. */
  private volatile boolean renewed;

  /**
   * A hold that has begun; {@link #watch} has to be called next.
   *
   * @param source the lock's source
   * @param members a place for each member; null where there is none yet
   * @param required how many of them have to stand
   * @param token the fencing token
   * @param owner the thread that will own it, or null
   * @param renewed whether the members are renewed
   */
  protected CompositeLease(
      LeaseSource source,
      List<? extends @Nullable OwnedLease> members,
      int required,
      long token,
      @Nullable Thread owner,
      boolean renewed) {
    this.source = source;
    this.name = source.name();
    this.owner = owner;
    // What becomes of a single member is logged by that.
    this.state = new LeaseStateMachine(name, task -> run(source, task), members.size() > 1);
    this.renewed = renewed;
    this.token = new AtomicLong(token);
    this.members = new CompositeMembers(required, members);
  }

  /**
   * The token for a hold made of these. It has to be later than all that they remember, and each
   * has to remember it. If the least of theirs is later, each remembers as much already; that is so
   * when the servers' clocks differ by less than the time since the last holder of any. Otherwise
   * it is the largest, and those that have less are to be {@link OwnedLease#raiseToken raised};
   * also when some remember a holder and others none: they may have forgotten a later one, and then
   * only their own token, by their clock, is beyond it.
   */
  public static long commonToken(Collection<? extends OwnedLease> members) {
    long least = members.stream().mapToLong(OwnedLease::fencingToken).min().orElseThrow();
    long last = members.stream().mapToLong(OwnedLease::lastToken).max().orElseThrow();
    long remembering = members.stream().filter(member -> member.lastToken() > 0).count();
    boolean alike = remembering == 0 || remembering == members.size();
    return alike && least > last
        ? least
        : members.stream().mapToLong(OwnedLease::fencingToken).max().orElseThrow();
  }

  /** Looks after the members from now on. To be called once, when the hold is ready for use. */
  protected final void watch() {
    for (int i = 0; i < members.places(); i++) {
      OwnedLease member = members.at(i);
      if (member != null) {
        watch(i, member);
      }
    }
  }

  private void watch(int place, OwnedLease member) {
    watches.add(
        member.onChangeWhileHeld(change -> memberChanged(place, member), members.places() > 1));
    if (!member.isValid()) {
      memberChanged(place, member);
    }
    if (state.now().phase() == Phase.RELEASED) {
      unwatch();
    }
  }

  /**
   * A member may be held for longer than this: by its thread, or by others. Not when this is lost,
   * but when it is given up: what becomes of the other members until then is no news.
   */
  private void unwatch() {
    for (Runnable stop = watches.poll(); stop != null; stop = watches.poll()) {
      stop.run();
    }
  }

  private void memberChanged(int place, OwnedLease member) {
    if (look().isLive() && !member.isValid()) {
      onMemberLost(place, member);
    }
  }

  /** Clients that are closed have no threads any more; then whoever made the change tells it. */
  private static void run(LeaseSource source, Runnable task) {
    try {
      var unused = source.submit(task);
    } catch (RejectedExecutionException closed) {
      task.run();
    } catch (OutOfMemoryError noThread) {
      source.schedule(task, NO_THREAD_NANOS);
    }
  }

  // ---- what differs

  /** Releases the members; what went wrong. Called once, by whoever ends the hold. */
  protected abstract List<RuntimeException> releaseMembers(List<OwnedLease> held);

  /** Does something with each member that is there, as far as is needed for enough of them. */
  protected abstract Asked askMembers(Consumer<OwnedLease> action);

  /**
   * What came of asking the members.
   *
   * @param done how many of them did it
   * @param failures what went wrong with the others
   */
  public record Asked(int done, List<RuntimeException> failures) {}

  /**
   * The hold was lost; its members may still be held. Called once; once more, if there was no
   * thread for what it begins.
   */
  protected abstract void lost();

  /** Whoever owns the hold gives it up after it was lost. */
  protected void leftOver() {}

  /** A member was lost, and the hold still stands. May be called more than once for a member. */
  protected abstract void onMemberLost(int place, OwnedLease member);

  // ---- members

  /** The members that are there, lost or not. */
  protected final List<OwnedLease> members() {
    return members.all();
  }

  /** The member at that place, lost or not; null when there is none. */
  protected final @Nullable OwnedLease member(int place) {
    return members.at(place);
  }

  /** How many members are valid at this moment. */
  protected final int validMembers() {
    return members.count().valid();
  }

  /** How many places there are. */
  protected final int places() {
    return members.places();
  }

  /** How many members have to stand. */
  protected final int required() {
    return members.required();
  }

  /**
   * Puts a member into a place, instead of the one that is expected there, while enough of the
   * others stand.
   *
   * @return false when the hold has ended or the place has changed: the caller keeps the member
   */
  protected final boolean join(int place, @Nullable OwnedLease expected, OwnedLease member) {
    if (!members.join(place, expected, member, () -> state.now().isLive(), this::look)) {
      return false;
    }
    watch(place, member);
    return true;
  }

  // ---- where it stands

  private LeaseStatus look() {
    LeaseStatus now = state.now();
    if (!now.isLive()) {
      return now;
    }
    CompositeMembers.Count standing = members.count();
    if (standing.valid() < required()) {
      lose();
    } else if (standing.onTime() < required()) {
      state.atRisk();
    } else {
      state.renewedInTime();
    }
    return state.now();
  }

  private void lose() {
    if (state.lose(loss("the hold is lost"))) {
      try {
        lost();
      } catch (OutOfMemoryError noThread) {
        source.schedule(this::lost, NO_THREAD_NANOS);
      }
    }
  }

  private LeaseLoss loss(String fact) {
    return CompositeLoss.of(name, token.get(), fact, members(), places(), required());
  }

  // ---- release

  @Override
  public final void release() {
    tryRelease();
    state.throwIfLost();
  }

  @Override
  public final void close() {
    state.ensureHandle(owner);
    state.throwLossOnClose(tryRelease());
  }

  private boolean tryRelease() {
    look();
    if (!state.beginRelease()) {
      if (state.now().phase() == Phase.LOST) {
        leftOver();
        unwatch();
      }
      return false;
    }
    List<RuntimeException> failures;
    try {
      failures = releaseMembers(members());
    } catch (RuntimeException | Error unexpected) {
      state.endRelease(null); // it is not held any more, whatever became of its members
      unwatch();
      throw unexpected;
    }
    CompositeRelease came =
        new CompositeRelease(name, places(), required(), members().size(), failures);
    LeaseLoss loss = came.wasHeld() ? null : loss("the hold was lost before its release");
    state.endRelease(loss);
    unwatch();
    came.throwIfUnconfirmed(loss);
    return true;
  }

  // ---- what its keeper asks

  /** All of them, or the hold stands as it was: what some have agreed to is taken back. */
  @Override
  public void extendTo(LeaseTerms terms) {
    boolean before = renewed;
    boolean done = false;
    renewed |= terms.renewed();
    try {
      if (covers(terms)) {
        members().forEach(member -> member.extendTo(terms)); // which sends nothing
      } else {
        demand(
            "held, but could not be lengthened for the re-entry", member -> member.extendTo(terms));
      }
      done = true;
    } finally {
      if (!done) {
        setRenewed(before);
      }
    }
  }

  /** As it was asked for last. */
  @Override
  public final boolean isRenewed() {
    return renewed;
  }

  @Override
  public final boolean covers(LeaseTerms terms) {
    return members().stream().allMatch(member -> member.covers(terms));
  }

  @Override
  public void setRenewed(boolean wanted) {
    renewed = wanted;
    members().forEach(member -> member.setRenewed(wanted));
  }

  @Override
  public void stopRenewal(String why) {
    renewed = false; // for members that are still to come
    members().forEach(member -> member.stopRenewal(why));
  }

  @Override
  public final void requestVerification() {
    members().forEach(OwnedLease::requestVerification);
  }

  @Override
  public final void verifyNow() {
    var unused = demand("held, but could not be confirmed", OwnedLease::verifyNow);
    ensureValid();
  }

  /** What any member remembered. */
  @Override
  public final long lastToken() {
    return members().stream().mapToLong(OwnedLease::lastToken).max().orElse(0);
  }

  @Override
  public final boolean raiseToken(long atLeast) {
    Asked asked =
        askMembers(
            member -> {
              if (!member.raiseToken(atLeast)) {
                member.ensureValid();
                throw new IllegalMonitorStateException(
                    "lock '" + member.lockName() + "': not held any more");
              }
            });
    if (!look().isLive()) {
      return false;
    }
    if (asked.done() >= required()) {
      token.accumulateAndGet(atLeast, Math::max);
      return true;
    }
    long gone =
        asked.failures().stream().filter(IllegalMonitorStateException.class::isInstance).count();
    if (members().size() - gone >= required()) {
      throw AggregateFailure.of(
          name, "held, but its fencing token could not be raised", asked.failures());
    }
    requestVerification(); // too few are there, and not all of them know
    return false;
  }

  /** Whether enough members did something; false when that is because the hold was lost. */
  private boolean demand(String otherwise, Consumer<OwnedLease> action) {
    Asked asked = askMembers(action);
    if (asked.done() < required() && look().isLive()) {
      throw AggregateFailure.of(name, otherwise, asked.failures());
    }
    return asked.done() >= required();
  }

  // ---- what callers ask

  @Override
  public final String lockName() {
    return name;
  }

  @Override
  public final long fencingToken() {
    return token.get();
  }

  @Override
  public final State state() {
    return look().state();
  }

  @Override
  public final Duration remaining() {
    Phase phase = look().phase();
    if (phase == Phase.LOST || phase == Phase.RELEASED) {
      return Duration.ZERO;
    }
    return members.remaining();
  }

  @Override
  public final Optional<LeaseLoss> loss() {
    look();
    return state.loss();
  }

  @Override
  public final void ensureValid() {
    look();
    state.ensureValid(token.get());
  }

  @Override
  public final void onLost(Consumer<LeaseLoss> listener) {
    look();
    state.onLost(listener);
  }

  @Override
  public final void onStateChange(Consumer<State> listener) {
    state.onStateChange(listener);
  }

  @Override
  public final Runnable onChangeWhileHeld(Consumer<State> listener, boolean tells) {
    return state.onChangeWhileHeld(listener, tells);
  }

  @Override
  public String toString() {
    return "lease of '%s', token %d, %d of %d members, %s"
        .formatted(name, token.get(), validMembers(), places(), state);
  }
}
