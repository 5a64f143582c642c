package io.mortise.core.internal;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.LockProtocol.Caller;
import io.mortise.core.spi.ScriptCall;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * One protocol on one engine: turns what callers ask into {@link Terms}, and hands it to {@link
 * Ownership} when a thread is to be the owner, to {@link Acquisition} when nobody is. A null wait
 * has no end; a null lease is the client's, renewed.
 */
public record EngineLock(Engine engine, LockProtocol protocol, String id) {

  /** The lock of that protocol. */
  public static EngineLock of(LockClient client, LockProtocol protocol) {
    Engine engine = (Engine) client;
    return new EngineLock(engine, protocol, engine.idOf(protocol));
  }

  /** See {@code DistributedLock}; so the others. */
  public String name() {
    return protocol.name().value();
  }

  public void lock(@Nullable Duration lease) {
    uninterruptibly(null, lease);
  }

  public void lockInterruptibly(@Nullable Duration lease) throws InterruptedException {
    engine.ownership().lock(protocol, id, terms(null, lease, true));
  }

  public boolean tryLock() {
    return uninterruptibly(Duration.ZERO, null);
  }

  public boolean tryLock(Duration wait, @Nullable Duration lease) throws InterruptedException {
    return engine.ownership().lock(protocol, id, terms(wait, lease, true));
  }

  private boolean uninterruptibly(@Nullable Duration wait, @Nullable Duration lease) {
    try {
      return engine.ownership().lock(protocol, id, terms(wait, lease, false));
    } catch (InterruptedException e) {
      throw new AssertionError("these terms say that an interrupt ends nothing", e);
    }
  }

  public void unlock() {
    engine.ownership().unlock(protocol, id);
  }

  public Lease lease() {
    return engine.ownership().lease(protocol, id);
  }

  public int holdCount() {
    return engine.ownership().holdCount(id);
  }

  public Optional<Lease> tryAcquire(@Nullable Duration lease) {
    try {
      return handle(terms(Duration.ZERO, lease, false));
    } catch (InterruptedException e) {
      throw new AssertionError("these terms say that an interrupt ends nothing", e);
    }
  }

  public Optional<Lease> acquire(Duration wait, @Nullable Duration lease)
      throws InterruptedException {
    return handle(terms(wait, lease, true));
  }

  private Optional<Lease> handle(Terms terms) throws InterruptedException {
    Caller caller = engine.ownership().caller(protocol);
    return Ownership.isObstructed(protocol, caller, terms.waitNanos() > 0)
        ? Optional.empty()
        : Optional.ofNullable(Acquisition.acquire(engine, protocol.forCaller(caller), terms, null));
  }

  /**
   * The waiting is the same as ever, on a thread of the client's. What the caller holds is no
   * obstacle: it does not wait, and may give it up meanwhile.
   */
  public CompletionStage<Optional<Lease>> acquireAsync(Duration wait, @Nullable Duration lease) {
    Terms terms = terms(wait, lease, true);
    LockProtocol called = protocol.forCaller(engine.ownership().caller(protocol));
    CompletableFuture<Optional<Lease>> result = new CompletableFuture<>();
    try {
      Future<?> task = engine.workers().runWaiting(() -> complete(result, called, terms));
      var unused =
          result.whenComplete(
              (held, thrown) -> {
                if (result.isCancelled()) {
                  task.cancel(true);
                }
              });
    } catch (RejectedExecutionException e) {
      result.completeExceptionally(
          new LockException(
              LockException.Reason.CLIENT_CLOSED,
              "lock '" + protocol.name() + "': its client was closed",
              e));
    }
    return result;
  }

  private void complete(
      CompletableFuture<Optional<Lease>> result, LockProtocol called, Terms terms) {
    try {
      LeaseHandle lease = Acquisition.acquire(engine, called, terms, null);
      if (!result.complete(Optional.ofNullable(lease)) && lease != null) {
        lease.close(); // cancelled at the same moment: nobody has the handle
      }
    } catch (Throwable e) { // whatever it is, it belongs to whoever waits for the stage
      if (!result.completeExceptionally(e)) {
        Engine.LOG.debug("lock '{}': failed after it was cancelled", protocol.name(), e);
      }
    }
  }

  public boolean isLocked() {
    return ask(protocol.inspect()) != -2;
  }

  public Optional<Duration> remainingLease() {
    long millis = ask(protocol.inspect());
    if (millis == -2) {
      return Optional.empty();
    }
    return Optional.of(millis < 0 ? LockOptions.MAX_LEASE : Duration.ofMillis(millis));
  }

  /** The holder ids under which threads of this client wait in a queue in Redis, oldest first. */
  public List<String> waitingHolders() {
    return engine.scheduler().entries(Waiter.class).stream()
        .filter(waiter -> engine.idOf(waiter.protocol()).equals(id))
        .map(Waiter::holder)
        .sorted(Comparator.comparingLong(EngineLock::number))
        .toList();
  }

  private static long number(String holder) {
    return Long.parseLong(holder.substring(holder.lastIndexOf(':') + 1));
  }

  /** Runs a call of the family's own; its answer as Jedis decodes it. */
  public Object query(ScriptCall call) {
    engine.ensureOpen(protocol.name());
    try {
      return engine.commands().run(call).value();
    } catch (Fault fault) {
      throw fault.forCaller(protocol.name());
    }
  }

  public boolean forceUnlock() {
    boolean forced = ask(protocol.force()) == 1;
    for (LeaseHandle lease : engine.leases()) {
      if (lease.protocol().name().equals(protocol.name())) {
        lease.renewal().verify();
      }
    }
    return forced;
  }

  private long ask(ScriptCall call) {
    return (Long) query(call);
  }

  private Terms terms(@Nullable Duration wait, @Nullable Duration lease, boolean interruptible) {
    return Terms.of(engine.options(), wait, lease, interruptible);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof EngineLock lock && lock.engine == engine && lock.id.equals(id);
  }

  @Override
  public int hashCode() {
    return 31 * System.identityHashCode(engine) + id.hashCode();
  }

  @Override
  public String toString() {
    return id + " of client " + engine.id();
  }
}
