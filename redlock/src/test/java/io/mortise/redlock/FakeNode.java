package io.mortise.redlock;

import io.mortise.core.LockInspection;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockKey;
import io.mortise.core.spi.OwnedLease;
import io.mortise.core.spi.RedisDeployment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A lock on its own node: tasks run at once, and scheduled ones when a test runs them. */
final class FakeNode implements LeaseSource, RedisDeployment {
  private final String address;

  /** The scheduled tasks. */
  final Deque<Runnable> scheduled = new ArrayDeque<>();

  /** Runs the tasks. */
  Consumer<Runnable> threads = Runnable::run;

  /** Supplies the result of an acquisition. */
  Supplier<@Nullable OwnedLease> grants = () -> null;

  /** Tells the time. */
  LongSupplier clock = System::nanoTime;

  /** Returns the random numbers. */
  DoubleSupplier random = Math::random;

  /** The options of its client. */
  LockOptions options = LockOptions.defaults();

  /** Supplies the id of its server. */
  Supplier<Optional<String>> serverIds = () -> Optional.of(address());

  /** The terms of the last acquisition. */
  @Nullable LeaseTerms asked;

  FakeNode(String address) {
    this.address = address;
  }

  @Override
  public Optional<OwnedLease> acquire(LeaseTerms terms, @Nullable Thread owner) {
    asked = terms;
    return Optional.ofNullable(grants.get());
  }

  @Override
  public Future<?> submit(Runnable task) {
    threads.accept(task);
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public Runnable schedule(Runnable task, long delayNanos) {
    scheduled.add(task);
    return () -> scheduled.remove(task);
  }

  @Override
  public Object identity() {
    return this;
  }

  @Override
  public long nanoTime() {
    return clock.getAsLong();
  }

  @Override
  public double random() {
    return random.getAsDouble();
  }

  @Override
  public String kind() {
    return "fake";
  }

  @Override
  public String name() {
    return "orders";
  }

  @Override
  public LockOptions options() {
    return options;
  }

  @Override
  public Set<LockKey> keys() {
    return Set.of(new LockKey(this, name()));
  }

  @Override
  public String address() {
    return address;
  }

  @Override
  public Optional<String> serverId(long withinNanos) {
    return serverIds.get();
  }

  @Override
  public Optional<Duration> remainingLease() {
    return Optional.empty();
  }

  @Override
  public LockInspection inspect() {
    throw new UnsupportedOperationException();
  }

  @Override
  public boolean forceUnlock() {
    return false;
  }
}
