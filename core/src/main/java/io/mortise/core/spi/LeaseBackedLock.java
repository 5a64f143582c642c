package io.mortise.core.spi;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockInspection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A {@link DistributedLock} that is implemented by a {@link LeaseSource}. A lock family extends it
 * with a constructor and the questions that only this family answers.
 *
 * <p>Converts the arguments of callers into {@link LeaseTerms}. Calls {@link ThreadOwnership} when
 * the thread becomes the owner, and the source when it acquires a handle. Two objects are the same
 * lock if their sources have equal identities.
 *
 * <p><b>Threads.</b> Immutable; any thread may call any method.
 */
public abstract class LeaseBackedLock implements DistributedLock {
  private final LeaseSource source;

  /** The lease of its acquisitions; null for the client's default, which is renewed. */
  private final @Nullable Duration lease;

  /** The minimum of its acquisitions; zero for none. */
  private final Duration minimum;

  /** A view of a lock, whose acquisitions have a fixed lease, a minimum, or both. */
  private static final class View extends LeaseBackedLock {
    View(LeaseSource source, @Nullable Duration lease, Duration minimum) {
      super(source, lease, minimum);
    }
  }

  /** Returns the lock of that source, for a family that wraps it. */
  public static DistributedLock of(LeaseSource source) {
    return new View(source, null, Duration.ZERO);
  }

  /** Creates the lock of that source. */
  protected LeaseBackedLock(LeaseSource source) {
    this(source, null, Duration.ZERO);
  }

  private LeaseBackedLock(LeaseSource source, @Nullable Duration lease, Duration minimum) {
    this.source = Objects.requireNonNull(source, "source");
    this.lease = lease;
    this.minimum = minimum;
  }

  final LeaseSource source() {
    return source;
  }

  /**
   * Returns the source of a lock, for a lock that is composed of it.
   *
   * @throws IllegalArgumentException if it is not a {@link LeaseBackedLock}, nor decorates one
   */
  public static LeaseSource sourceOf(DistributedLock lock) {
    Objects.requireNonNull(lock, "lock");
    if (lock.undecorated() instanceof LeaseBackedLock leased) {
      return leased.source();
    }
    throw new IllegalArgumentException(
        "lock '%s' is a %s, which is not made of leases; extend io.mortise.core.spi.LeaseBackedLock"
                .formatted(lock.name(), lock.getClass().getName())
            + ", or let a decorator return undecorated() of its lock");
  }

  /**
   * Returns the sources of the members of a lock, as {@link #sourceOf} does.
   *
   * @throws NullPointerException if a member is null; names its place, from 1
   */
  public static List<LeaseSource> sourcesOf(Collection<? extends DistributedLock> members) {
    List<LeaseSource> sources = new ArrayList<>(members.size());
    for (DistributedLock member : members) {
      int place = sources.size() + 1;
      sources.add(sourceOf(Objects.requireNonNull(member, () -> "member " + place)));
    }
    return sources;
  }

  @Override
  public final DistributedLock undecorated() {
    return this;
  }

  @Override
  public final String name() {
    return source.name();
  }

  @Override
  public final DistributedLock withLease(Duration fixed) {
    var unused = terms(null, nonNullLease(fixed), true); // checks it
    return new View(source, fixed, minimum);
  }

  @Override
  public final DistributedLock atLeast(Duration least) {
    Objects.requireNonNull(least, "minimum");
    var unused = LeaseTerms.of(source.options(), null, lease, true).atLeast(least); // checks it
    return new View(source, lease, least);
  }

  // ---- the thread as owner

  @Override
  public final void lock() {
    uninterruptibly(null);
  }

  @Override
  public final void lockInterruptibly() throws InterruptedException {
    lock(terms(null, lease, true));
  }

  @Override
  public final boolean tryLock() {
    return uninterruptibly(Duration.ZERO);
  }

  @Override
  public final boolean tryLock(Duration wait) throws InterruptedException {
    return lock(terms(nonNullWait(wait), lease, true));
  }

  @Override
  public final boolean tryLock(Duration wait, Duration given) throws InterruptedException {
    return lock(terms(nonNullWait(wait), nonNullLease(given), true));
  }

  private boolean uninterruptibly(@Nullable Duration wait) {
    try {
      return lock(terms(wait, lease, false));
    } catch (InterruptedException e) {
      throw new AssertionError("uninterruptible terms", e);
    }
  }

  private boolean lock(LeaseTerms terms) throws InterruptedException {
    boolean locked = ThreadOwnership.lock(source, terms, source.waitPolicy());
    if (!locked && terms.isUnbounded()) {
      throw endedWait(); // the caller of lock() takes its return for a hold
    }
    return locked;
  }

  private AssertionError endedWait() {
    return new AssertionError("a wait without an end has ended: " + source);
  }

  @Override
  public final void unlock() {
    ThreadOwnership.unlock(source);
  }

  @Override
  public final Lease lease() {
    return ThreadOwnership.lease(source);
  }

  @Override
  public final boolean isHeldByCurrentThread() {
    return holdCount() > 0;
  }

  @Override
  public final int holdCount() {
    return ThreadOwnership.holdCount(source);
  }

  // ---- handles

  @Override
  public final Optional<Lease> tryAcquire() {
    try {
      return handle(terms(Duration.ZERO, lease, false));
    } catch (InterruptedException e) {
      throw new AssertionError("uninterruptible terms", e);
    }
  }

  @Override
  public final Lease acquire() throws InterruptedException {
    return handle(terms(null, lease, true)).orElseThrow(this::endedWait);
  }

  @Override
  public final Optional<Lease> acquire(Duration wait) throws InterruptedException {
    return handle(terms(nonNullWait(wait), lease, true));
  }

  @Override
  public final Optional<Lease> acquire(Duration wait, Duration given) throws InterruptedException {
    return handle(terms(nonNullWait(wait), nonNullLease(given), true));
  }

  private Optional<Lease> handle(LeaseTerms terms) throws InterruptedException {
    if (ThreadOwnership.isObstructed(source, source.selfDeadlock(), terms.waitNanos() > 0)) {
      return Optional.empty();
    }
    Function<OwnedLease, Lease> guarding = acquired -> guarded(acquired, terms); // made before
    return source
        .waitPolicy()
        .acquire(terms, allowed -> source.acquire(allowed, null))
        .map(guarding);
  }

  private Lease guarded(OwnedLease acquired, LeaseTerms terms) {
    try {
      Lease handle = source.guard(acquired);
      acquired.beginMinimum(terms);
      return handle;
    } catch (Throwable e) { // an error: no caller receives it
      acquired.releaseUnused();
      throw e;
    }
  }

  @Override
  public final CompletionStage<Lease> acquireAsync() {
    return AsyncAcquisition.start(
        source, terms(null, lease, true), held -> held.orElseThrow(this::endedWait));
  }

  @Override
  public final CompletionStage<Optional<Lease>> acquireAsync(Duration wait) {
    return AsyncAcquisition.start(source, terms(nonNullWait(wait), lease, true), held -> held);
  }

  @Override
  public final CompletionStage<Optional<Lease>> acquireAsync(Duration wait, Duration given) {
    return AsyncAcquisition.start(
        source, terms(nonNullWait(wait), nonNullLease(given), true), held -> held);
  }

  // ---- questions

  @Override
  public final boolean isLocked() {
    return remainingLease().isPresent();
  }

  @Override
  public final Optional<Duration> remainingLease() {
    return source.remainingLease();
  }

  @Override
  public final LockInspection inspect() {
    return source.inspect();
  }

  @Override
  public final boolean forceUnlock() {
    return source.forceUnlock();
  }

  private LeaseTerms terms(
      @Nullable Duration wait, @Nullable Duration given, boolean interruptible) {
    LeaseTerms terms = LeaseTerms.of(source.options(), wait, given, interruptible);
    return minimum.isZero() ? terms : terms.atLeast(minimum);
  }

  private static Duration nonNullWait(Duration wait) {
    return Objects.requireNonNull(wait, "wait");
  }

  private static Duration nonNullLease(Duration given) {
    return Objects.requireNonNull(given, "lease");
  }

  @Override
  public final boolean equals(Object other) {
    return other instanceof LeaseBackedLock lock
        && source.identity().equals(lock.source.identity());
  }

  @Override
  public final int hashCode() {
    return source.identity().hashCode();
  }

  @Override
  public final String toString() {
    return source
        + (lease == null ? "" : " with a lease of " + lease)
        + (minimum.isZero() ? "" : " for at least " + minimum);
  }
}
