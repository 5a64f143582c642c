package io.mortise.core.spi;

import io.mortise.core.LockInspection;
import io.mortise.core.LockOptions;
import java.time.Duration;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;

/**
 * Gives the leases that a test has put there; its worker does what it has when the test says so.
 */
public final class FakeSource implements LeaseSource {
  public final String name;
  public final Deque<FakeLease> free = new ConcurrentLinkedDeque<>();
  public final List<LeaseTerms> asked = new CopyOnWriteArrayList<>();
  public final List<Thread> owners = new CopyOnWriteArrayList<>();
  public final Deque<Runnable> submitted = new ConcurrentLinkedDeque<>();
  public final Deque<Runnable> scheduled = new ConcurrentLinkedDeque<>();

  /** For each task the worker that was asked: one of its own, or those that all holds share. */
  public final List<String> workers = new CopyOnWriteArrayList<>();

  public volatile Optional<String> obstacle = Optional.empty();
  public volatile boolean closed;
  public volatile boolean withoutThreads;
  public volatile boolean withoutMemory;
  public volatile Object identity = this;

  public FakeSource(String name, FakeLease... free) {
    this.name = name;
    this.free.addAll(List.of(free));
  }

  /** Does all that was submitted, and what that submits. */
  public void work() {
    for (Runnable task = submitted.poll(); task != null; task = submitted.poll()) {
      task.run();
    }
  }

  @Override
  public Object identity() {
    return identity;
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public double random() {
    return Math.random();
  }

  @Override
  public String kind() {
    return "fake";
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public LockOptions options() {
    return LockOptions.defaults();
  }

  @Override
  public Set<LockKey> keys() {
    return Set.of();
  }

  @Override
  public Optional<OwnedLease> acquire(LeaseTerms terms, Thread owner) {
    asked.add(terms);
    owners.add(owner);
    return Optional.ofNullable(free.poll());
  }

  @Override
  public Optional<String> selfDeadlock() {
    return obstacle;
  }

  @Override
  public Future<?> submit(Runnable task) {
    if (closed) {
      throw new RejectedExecutionException("closed");
    }
    if (withoutThreads || withoutMemory) {
      throw new OutOfMemoryError("unable to create native thread (on purpose)");
    }
    submitted.add(task);
    return new CompletableFuture<Void>();
  }

  @Override
  public void notifyUser(Runnable notification) {
    runSoon(notification, "own");
  }

  @Override
  public void log(Runnable line) {
    runSoon(line, "log");
  }

  @Override
  public void notifyDependent(Runnable notification) {
    runSoon(notification, "dependents");
  }

  /** Without a thread the client tries again later. */
  private void runSoon(Runnable task, String worker) {
    workers.add(worker);
    if (withoutThreads && !closed) {
      scheduled.add(task);
    } else {
      LeaseSource.super.execute(task);
    }
  }

  @Override
  public boolean isClosed() {
    return closed;
  }

  @Override
  public Runnable schedule(Runnable task, long delayNanos) {
    if (closed) {
      throw new RejectedExecutionException("closed");
    }
    if (withoutMemory) {
      throw new OutOfMemoryError("on purpose");
    }
    scheduled.add(task);
    return () -> scheduled.remove(task);
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

  @Override
  public String toString() {
    return "source of " + name;
  }
}
