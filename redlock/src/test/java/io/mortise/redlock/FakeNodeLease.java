package io.mortise.redlock;

import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A hold of one node, in the state that a test sets. */
final class FakeNodeLease implements OwnedLease {
  private final String name;
  private final List<Consumer<State>> onChange = new CopyOnWriteArrayList<>();
  private State state = State.HELD;
  private @Nullable LeaseLoss loss;
  private boolean renewed = true;
  private boolean stopped;

  /** Whether it was released without a wait for the reply. */
  boolean inBackground;

  private long token = 1;

  /** Runs, once, after its token was raised. */
  private Runnable whenRaised = () -> {};

  /** Its lease from now on, as long as it is valid. */
  Duration remaining = Duration.ofSeconds(10);

  /** Runs when the rest of its lease is read. */
  Runnable whenMeasured = () -> {};

  /** What a release throws. */
  @Nullable Error errorAtRelease;

  /** Runs as soon as the hold is watched. */
  private Runnable whenWatched = () -> {};

  /** Runs, once, before the renewal is ended. */
  private Runnable beforeRenewalEnds = () -> {};

  /** Runs when its last token is read. */
  Runnable whenCounted = () -> {};

  FakeNodeLease(String name) {
    this.name = name;
  }

  FakeNodeLease whenWatched(Runnable then) {
    whenWatched = then;
    return this;
  }

  void whenRaised(Runnable then) {
    whenRaised = then;
  }

  FakeNodeLease beforeRenewalEnds(Runnable first) {
    beforeRenewalEnds = first;
    return this;
  }

  void lose() {
    lose(Reason.MISSING);
  }

  void lose(Reason reason) {
    loseUnnoticed(reason);
    notifyLoss();
  }

  /** Loses it; {@link #notifyLoss} notifies the hold of it, as a thread of a client does later. */
  void loseUnnoticed(Reason reason) {
    loss = new LeaseLoss(name, 1, reason, System.nanoTime(), "lost on purpose");
    state = State.LOST;
  }

  void notifyLoss() {
    onChange.forEach(listener -> listener.accept(state));
  }

  @Override
  public boolean isRenewed() {
    return renewed && !stopped;
  }

  @Override
  public void stopRenewal(String why) {
    stopped = true;
  }

  boolean isStopped() {
    return stopped;
  }

  @Override
  public void extendTo(LeaseTerms terms) {
    renewed |= terms.renewed();
    Duration lease = Duration.ofMillis(terms.leaseMillis());
    remaining = remaining.compareTo(lease) < 0 ? lease : remaining;
  }

  @Override
  public long sinceNanos() {
    return 0;
  }

  @Override
  public void keepUntil(long nanos) {}

  @Override
  public void waiveMinimum() {}

  @Override
  public boolean covers(LeaseTerms terms) {
    return true;
  }

  @Override
  public void setRenewed(boolean wanted) {
    if (!wanted) {
      Runnable first = beforeRenewalEnds;
      beforeRenewalEnds = () -> {};
      first.run();
    }
    renewed = wanted;
  }

  @Override
  public void requestVerification() {}

  @Override
  public void verifyNow() {
    ensureValid();
  }

  @Override
  public long lastToken() {
    whenCounted.run();
    return 0;
  }

  @Override
  public boolean raiseToken(long atLeast) {
    token = Math.max(token, atLeast);
    Runnable then = whenRaised;
    whenRaised = () -> {};
    then.run();
    return isValid();
  }

  @Override
  public Runnable onChangeWhileHeld(Consumer<State> listener, boolean logsLoss) {
    onChange.add(listener);
    whenWatched.run();
    return () -> onChange.remove(listener);
  }

  @Override
  public void release() {
    if (errorAtRelease != null) {
      throw errorAtRelease;
    }
    state = state == State.LOST ? state : State.RELEASED;
  }

  @Override
  public void releaseInBackground() {
    inBackground = true;
    release();
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
    return state;
  }

  @Override
  public Duration remaining() {
    whenMeasured.run();
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
    throw new UnsupportedOperationException();
  }

  @Override
  public void ensureValid() {
    if (loss != null) {
      throw new LeaseLostException(loss);
    }
  }
}
