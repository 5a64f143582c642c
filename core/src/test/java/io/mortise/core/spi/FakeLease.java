package io.mortise.core.spi;

import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** A hold in the state that a test sets; it records the requests to it. */
public final class FakeLease implements OwnedLease {
  public final String name;
  public final AtomicInteger releases = new AtomicInteger();
  public final AtomicInteger backgroundReleases = new AtomicInteger();
  public final List<LeaseTerms> needed = new CopyOnWriteArrayList<>();
  public final List<Boolean> renewed = new CopyOnWriteArrayList<>();
  public volatile Duration remaining = Duration.ofSeconds(10);
  public volatile RuntimeException failure;
  public volatile Error errorAtRelease;
  public volatile Error errorAtMinimum;
  public volatile Error errorAtState;
  public volatile Runnable beforeState = () -> {};
  public volatile boolean gone;
  public volatile boolean covers;
  public volatile long since;
  public final List<Long> kept = new CopyOnWriteArrayList<>();
  public volatile List<Long> keptAtRelease = List.of();
  public final AtomicInteger verified = new AtomicInteger();
  private final List<Consumer<State>> onChange = new CopyOnWriteArrayList<>();
  public volatile String endedRenewal = "";
  private volatile State state = State.HELD;
  private volatile boolean lostUnnoticed;
  private volatile LeaseLoss loss;
  private volatile long token = 1;
  private volatile long lastToken;

  public FakeLease(String name) {
    this.name = name;
  }

  public FakeLease(String name, State state) {
    this(name);
    if (state == State.LOST) {
      lose();
    } else {
      this.state = state;
    }
  }

  /** Was granted with that token, by a lock that remembered the other. */
  public FakeLease granted(long with, long last) {
    token = with;
    lastToken = last;
    return this;
  }

  /** Changes the state without a notification. */
  public void becomes(State next) {
    state = next;
  }

  public void loses(Reason reason, long atNanos) {
    loss = new LeaseLoss(name, token, reason, atNanos, "detail of " + name);
    state = State.LOST;
  }

  public void tell() {
    onChange.forEach(listener -> listener.accept(state));
  }

  public void lose() {
    loses(Reason.EXPIRED, System.nanoTime());
    tell();
  }

  /** Each later call finds that the hold is gone. */
  public FakeLease lostUnnoticed() {
    lostUnnoticed = true;
    return this;
  }

  /** From now on what is asked of it fails. */
  public FakeLease failing(RuntimeException with) {
    failure = with;
    return this;
  }

  @Override
  public boolean isRenewed() {
    return endedRenewal.isEmpty();
  }

  @Override
  public void stopRenewal(String why) {
    endedRenewal = why;
  }

  private void failOrThrowLoss() {
    if (lostUnnoticed) {
      loses(Reason.MISSING, System.nanoTime());
    }
    if (failure != null) {
      throw failure;
    }
    if (loss != null) {
      throw new LeaseLostException(loss);
    }
  }

  @Override
  public void extendTo(LeaseTerms terms) {
    failOrThrowLoss();
    needed.add(terms);
  }

  @Override
  public long sinceNanos() {
    return since;
  }

  @Override
  public void keepUntil(long nanos) {
    if (errorAtMinimum != null) {
      throw errorAtMinimum;
    }
    kept.add(nanos);
  }

  @Override
  public void beginMinimum(LeaseTerms terms) {
    if (errorAtMinimum != null) {
      throw errorAtMinimum;
    }
    OwnedLease.super.beginMinimum(terms);
  }

  @Override
  public void waiveMinimum() {
    kept.clear();
  }

  @Override
  public boolean covers(LeaseTerms terms) {
    return covers;
  }

  public int listeners() {
    return onChange.size();
  }

  @Override
  public void requestVerification() {
    verified.incrementAndGet();
  }

  @Override
  public void verifyNow() {
    failOrThrowLoss();
  }

  @Override
  public long lastToken() {
    return lastToken;
  }

  @Override
  public void setRenewed(boolean wanted) {
    renewed.add(wanted);
  }

  @Override
  public boolean raiseToken(long atLeast) {
    failOrThrowLoss();
    if (!gone) {
      token = Math.max(token, atLeast);
    }
    return !gone;
  }

  @Override
  public void release() {
    releases.incrementAndGet();
    keptAtRelease = List.copyOf(kept);
    if (errorAtRelease != null) {
      throw errorAtRelease;
    }
    failOrThrowLoss();
    state = State.RELEASED;
  }

  @Override
  public void releaseInBackground() {
    if (isValid()) {
      releases.incrementAndGet();
      backgroundReleases.incrementAndGet();
      if (errorAtRelease != null) {
        throw errorAtRelease;
      }
      state = State.RELEASED;
    }
  }

  @Override
  public void close() {
    release();
  }

  @Override
  public String lockName() {
    return name;
  }

  @Override
  public long fencingToken() {
    return token;
  }

  @Override
  public State state() {
    beforeState.run();
    if (errorAtState != null) {
      throw errorAtState;
    }
    return state;
  }

  @Override
  public Duration remaining() {
    return isValid() ? remaining : Duration.ZERO;
  }

  @Override
  public Optional<LeaseLoss> loss() {
    return Optional.ofNullable(loss);
  }

  @Override
  public void onLost(Consumer<LeaseLoss> listener) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void onStateChange(Consumer<State> listener) {
    onChange.add(listener);
  }

  @Override
  public Runnable onChangeWhileHeld(Consumer<State> listener, boolean tells) {
    Consumer<State> whileHeld =
        state -> {
          if (state != State.RELEASED) {
            listener.accept(state);
          }
        };
    onChange.add(whileHeld);
    return () -> onChange.remove(whileHeld);
  }

  @Override
  public void ensureValid() {
    if (loss != null) {
      throw new LeaseLostException(loss);
    }
  }
}
