package io.mortise.core.composite;

import io.mortise.core.LeaseLoss;
import io.mortise.core.internal.lease.LeaseStateMachine;
import io.mortise.core.internal.lease.LeaseStatus;
import io.mortise.core.internal.lease.LeaseStatus.Phase;
import io.mortise.core.internal.lease.NotificationWorkers;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.OwnedLease;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A hold that is composed of holds of other locks, and is valid while enough of them are: all, or a
 * majority.
 *
 * <p>Each member renews itself and judges its own validity. The composite is valid while {@code
 * required} members are, and at risk while fewer than that are on time. Its remaining time is the
 * shortest among the {@code required} members that last the longest.
 *
 * <p>Members that may outlast the hold are watched until the hold is released. The others are
 * watched until their own end: the loss of one may be found at its release, also after the whole
 * hold has ended, and must not be logged as a second warning.
 *
 * <p><b>Threads.</b> Any thread may call the public methods. {@link CompositeMembers} keeps the
 * members, and {@link DelegatingLease} passes requests on to them. The state is computed by every
 * call that reads it, and by a thread of a client after each change of a member, so listeners learn
 * of a loss at the latest after the deciding member has notified its own loss. Without memory for
 * that the member notifies this hold again later. {@link LeaseStateMachine} makes the change to
 * LOST or RELEASING once, and the thread that makes it has the members released. A member that
 * arrives after that is rejected by {@link #join}. One that is watched while the hold is released
 * is not watched after that, because each of the two threads first publishes and then looks: one
 * adds what ends the watch and then reads the state, the other sets the state and then ends the
 * watches.
 */
public abstract class CompositeLease extends DelegatingLease {
  private static final Logger LOG = LoggerFactory.getLogger(CompositeLease.class);

  private final LeaseSource source;
  private final @Nullable Thread owner;

  /** Each ends the watch of a member that may outlast the hold. */
  private final Queue<Runnable> watches = new ConcurrentLinkedQueue<>();

  /**
   * Creates a hold that has begun; {@link #watch()} has to be called next.
   *
   * @param members a place for each member; null where there is none yet
   * @param required how many of them have to be valid
   */
  protected CompositeLease(
      LeaseSource source,
      List<? extends @Nullable OwnedLease> members,
      int required,
      long token,
      @Nullable Thread owner,
      boolean renewed) {
    super(
        source.name(),
        new CompositeMembers(required, members),
        token,
        renewed,
        new LeaseStateMachine(
            source.name(),
            workersOf(source),
            members.size() > 1)); // a single member logs its loss itself
    this.source = source;
    this.owner = owner;
  }

  /**
   * Returns the workers of a client: each of its holds, of this kind or not, has a worker of its
   * own for listeners of the user only.
   */
  private static NotificationWorkers workersOf(LeaseSource source) {
    return new NotificationWorkers(
        task -> run(source::notifyUser, task),
        task -> run(source::notifyDependent, task),
        task -> run(source::log, task));
  }

  /** Watches the members from now on. To be called once, when the hold is ready for use. */
  protected final void watch() {
    for (int i = 0; i < members.capacity(); i++) {
      OwnedLease member = members.at(i);
      if (member != null) {
        onWatched(i, member, watch(i, member));
      }
    }
  }

  /** Watches a member that does not count yet; returns what ends that. */
  private Runnable watch(int place, OwnedLease member) {
    return member.onChangeWhileHeld(
        change -> {
          memberChanged(place, member);
          state.ensureDelivered(); // or the member notifies the hold again
        },
        capacity() > 1);
  }

  /** Goes on watching a member that counts now. */
  private void onWatched(int place, OwnedLease member, Runnable stop) {
    if (membersMayOutlast()) { // otherwise all the members that it ever had are kept
      watches.add(stop);
    }
    if (!member.isValid()) {
      memberChanged(place, member);
    }
    if (state.now().phase() == Phase.RELEASED) {
      endWatches();
    }
  }

  /** Ends the watches, when the owner of the hold gives it up. Not called when the hold is lost. */
  private void endWatches() {
    for (Runnable stop = watches.poll(); stop != null; stop = watches.poll()) {
      stop.run();
    }
  }

  /**
   * Ends the watches of a lost hold that its owner may never release. Not while listeners wait for
   * memory: the members notify the hold again.
   */
  protected final void endWatchesAfterLoss() {
    if (state.deliver()) {
      endWatches();
    }
  }

  private void memberChanged(int place, OwnedLease member) {
    if (isLive() && !member.isValid()) {
      onMemberLost(place, member);
    }
  }

  /** Runs a task on a thread of a client, or on the calling thread if all clients are closed. */
  private static void run(Executor workers, Runnable task) {
    try {
      workers.execute(task);
    } catch (RejectedExecutionException closed) {
      task.run();
    }
  }

  // ---- for subclasses

  /** Writes a line of the log soon, on a thread of a client, or here if all clients are closed. */
  protected final void log(Runnable line) {
    run(source::log, line);
  }

  /** Returns whether a member may outlast this hold, because its thread or others hold it too. */
  protected abstract boolean membersMayOutlast();

  /** Releases the members; returns the failures. Called once, by the thread that ends the hold. */
  protected abstract List<RuntimeException> releaseMembers(List<OwnedLease> held);

  /** Has the members released in the background. Called at most once, if no owner releases them. */
  protected void releaseMembersInBackground() {
    members.releaseInBackground();
  }

  /**
   * Called once when the hold was lost, and sends no command. After it the members are released in
   * the background, unless they {@linkplain #membersMayOutlast may outlast} the hold.
   */
  protected void lost() {}

  /** Called when the owner releases the hold after it was lost. */
  protected void releaseAfterLoss() {}

  /** Called when an error ended the release by the owner, who will not call it again. */
  protected void abandonMembers() {}

  /**
   * Called, possibly repeatedly, when a member was lost and the hold is still valid. Must not
   * block: the thread has the changes of other holds to pass on.
   */
  protected abstract void onMemberLost(int place, OwnedLease member);

  /** See {@link LeaseStateMachine#onEnd}. */
  protected final void onEnd(Consumer<@Nullable LeaseLoss> observer) {
    state.onEnd(observer);
  }

  // ---- members

  /** Returns the members, lost or not. */
  protected final List<OwnedLease> members() {
    return members.all();
  }

  /** Returns the member at that place, lost or not; null when there is none. */
  protected final @Nullable OwnedLease member(int place) {
    return members.at(place);
  }

  protected final int validMembers() {
    return members.count().valid();
  }

  protected final int capacity() {
    return members.capacity();
  }

  /** Returns how many members have to be valid. */
  protected final int required() {
    return members.required();
  }

  /**
   * Puts a member into a place, instead of the one that is expected there, while enough of the
   * others are valid.
   *
   * @return false when the hold has ended or the place has changed: the caller keeps the member
   */
  protected final boolean join(int place, @Nullable OwnedLease expected, OwnedLease member) {
    Runnable stop = watch(place, member); // before it counts: its loss is one of this hold
    boolean joined = false;
    try {
      minimum.applyTo(member); // before it counts: the hold may be released at once
      joined = members.join(place, expected, member, () -> state.now().isLive(), this::refresh);
    } finally {
      if (!joined) {
        stop.run();
      }
    }
    if (joined) {
      minimum.applyTo(member); // again: a call of keepUntil that did not find it came before this
      stopIfStopped(member);
      onWatched(place, member, stop);
    }
    return joined;
  }

  // ---- state

  /**
   * Adopts the states of the members.
   *
   * <p>A thread that has changed the hold counts again. Example: two members are renewed after a
   * pause. Thread A reads the second one before its renewal; thread B reads both after it, and
   * makes the hold held. If A is stopped until then, it makes the hold at risk again, and nobody
   * else would look until a member changes. "Publish, then look": a member changes, and then its
   * thread counts; A changes the hold, and then counts. The last of them sees the members as they
   * are.
   */
  @Override
  protected final void refresh() {
    boolean changed;
    do {
      LeaseStatus now = state.now();
      if (!now.isLive()) {
        if (now.phase() == Phase.LOST) {
          var unused = state.deliver(); // to those who could not be notified of the loss
        }
        return;
      }
      changed = adopt(members.count());
    } while (changed);
  }

  /** Returns whether the hold has become at risk, or is no longer. */
  private boolean adopt(CompositeMembers.Count count) {
    if (count.valid() < required()) {
      lose();
      return false;
    }
    return count.onTime() < required() ? state.atRisk() : state.renewedInTime();
  }

  private void lose() {
    if (state.lose(loss("the hold is lost", OwnedLease::isValid))) {
      try {
        lost();
        if (!membersMayOutlast()) { // their user may never close the hold
          releaseMembersInBackground(); // with a thread for each loss, all would wait for a server
        }
      } catch (Throwable e) {
        members.stopRenewal(UNRELEASED);
        throw e;
      }
    }
  }

  /** Releases the members of a hold that was lost; after an error none of them is renewed. */
  protected final void releaseLostMembers() {
    try {
      for (RuntimeException e : releaseMembers(members())) {
        LOG.debug("lock '{}': a member, released after the loss of the hold", name, e);
      }
    } catch (Throwable e) {
      members.stopRenewal(UNRELEASED);
      throw e;
    }
  }

  private LeaseLoss loss(String fact, Predicate<OwnedLease> stands) {
    return CompositeLosses.of(name, fencingToken(), fact, members, stands, source.nanoTime());
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

  @Override
  public final void releaseInBackground() {
    refresh();
    if (state.beginRelease()) {
      try {
        releaseMembersInBackground();
      } finally {
        state.endRelease(null); // the hold has ended, even if a member has not
        endWatches();
      }
    }
  }

  /** After an error no member is renewed: nobody may be left to release it. */
  private boolean tryRelease() {
    try {
      return releaseOnce();
    } catch (Error e) {
      try {
        stopRenewal(UNRELEASED);
      } finally {
        abandonMembers();
      }
      throw e;
    }
  }

  private boolean releaseOnce() {
    refresh();
    if (!state.beginRelease()) {
      if (state.now().phase() == Phase.LOST) {
        releaseAfterLoss();
        endWatches();
      }
      return false;
    }
    List<OwnedLease> held;
    List<RuntimeException> failures;
    try {
      held = members.valid(); // before: a member that is about to join proves nothing
      failures = releaseMembers(members());
    } catch (RuntimeException | Error unexpected) {
      state.endRelease(null); // the hold has ended, even if a member has not
      endWatches();
      throw unexpected;
    }
    CompositeRelease result = new CompositeRelease(name, capacity(), required(), held, failures);
    LeaseLoss loss =
        result.wasHeld() ? null : loss("the hold was lost before its release", result::stood);
    state.endRelease(loss);
    endWatches();
    result.throwIfUnconfirmed(loss);
    return true;
  }

  // ---- for the layer that owns the hold

  /** Returns the moment before the request that granted the last of the members. */
  @Override
  public long sinceNanos() {
    return members().stream()
        .map(OwnedLease::sinceNanos)
        .reduce((one, other) -> one - other >= 0 ? one : other)
        .orElseGet(source::nanoTime);
  }

  @Override
  public String toString() {
    return "lease of '%s', token %d, %d of %d members, %s"
        .formatted(name, fencingToken(), validMembers(), capacity(), state);
  }
}
