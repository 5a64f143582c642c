package io.mortise.core.internal.engine;

import io.mortise.connection.pool.CommandException;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockInspection;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.acquire.ReportedAcquisition;
import io.mortise.core.internal.acquire.WaiterHeartbeat;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.LockExceptions;
import io.mortise.core.internal.lease.LockId;
import io.mortise.core.internal.lease.RedisHold;
import io.mortise.core.internal.lease.RegisteredHold;
import io.mortise.core.spi.CallerAwareProtocol;
import io.mortise.core.spi.CallerAwareProtocol.CallerHold;
import io.mortise.core.spi.GroupAttemptResult;
import io.mortise.core.spi.GroupProtocol;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockKey;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.OwnedLease;
import io.mortise.core.spi.ProtocolLeaseSource;
import io.mortise.core.spi.ThreadOwnership;
import io.mortise.core.spi.WaitPolicy;
import io.mortise.scripts.ScriptCall;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * The leases of one lock protocol on one client, made by {@link ReportedAcquisition}.
 *
 * <p><b>Threads.</b> Immutable: any thread may call any method.
 */
public final class RedisLeaseSource implements ProtocolLeaseSource {
  private final SourceContext services;
  private final LeaseContext context;
  private final LockProtocol protocol;
  private final LockIdentity identity;

  /** The thread that began the acquisition, and to which the protocol is bound; null if none. */
  private final @Nullable Thread caller;

  private RedisLeaseSource(
      LockIdentity identity,
      SourceContext services,
      LockProtocol protocol,
      @Nullable Thread caller) {
    this.identity = identity;
    this.services = services;
    this.context = services.acquisitions().lease();
    this.protocol = protocol;
    this.caller = caller;
  }

  /** Returns the leases of a protocol. */
  public static RedisLeaseSource of(LockClient client, LockProtocol protocol) {
    RedisLockClient made = (RedisLockClient) client;
    return new RedisLeaseSource(
        new LockIdentity(made, protocol.kind(), protocol.name().value()),
        made.sources(),
        protocol,
        null);
  }

  @Override
  public Object identity() {
    return identity;
  }

  @Override
  public long nanoTime() {
    return context.nanos();
  }

  @Override
  public double random() {
    return context.random();
  }

  @Override
  public String kind() {
    return protocol.kind();
  }

  @Override
  public String name() {
    return protocol.name().value();
  }

  @Override
  public LockOptions options() {
    return context.options();
  }

  @Override
  public WaitPolicy waitPolicy() {
    return services.waitPolicy();
  }

  @Override
  public Set<LockKey> keys() {
    return Set.of(new LockKey(identity.client(), name()));
  }

  @Override
  public boolean dependsOnCaller() {
    return protocol instanceof CallerAwareProtocol;
  }

  /** Returns whether the other source has the same client, family, and slot. */
  @Override
  public boolean canAcquireTogetherWith(LeaseSource other) {
    return other instanceof RedisLeaseSource source
        && identity.client() == source.identity.client()
        && protocol.kind().equals(source.protocol.kind())
        && protocol instanceof GroupProtocol
        && context.commands().haveOneSlot(protocol.queryLease(), source.protocol.queryLease());
  }

  @Override
  public GroupAttemptResult acquireTogether(
      List<? extends LeaseSource> sources, LeaseTerms terms, @Nullable Thread owner)
      throws InterruptedException {
    List<GroupProtocol> protocols =
        sources.stream()
            .map(source -> (GroupProtocol) ((RedisLeaseSource) source).protocol)
            .toList();
    return ReportedAcquisition.ofGroup(
        services.acquisitions(), protocols, terms, owner, asker(owner));
  }

  // ---- acquisitions

  @Override
  public Optional<OwnedLease> acquire(LeaseTerms terms, @Nullable Thread owner)
      throws InterruptedException {
    RedisHold hold =
        ReportedAcquisition.of(
            services.acquisitions(), this, protocolForCaller(), terms, owner, asker(owner));
    try {
      return Optional.ofNullable(hold);
    } catch (Throwable e) { // no caller gets it
      if (hold != null) {
        hold.drop();
      }
      throw e;
    }
  }

  @Override
  public Lease guard(OwnedLease lease) {
    return protocol.guard(lease, options().traceLeases(), services.releaser());
  }

  /** Returns the thread that asks for the lock; the calling thread may do it on its behalf. */
  private Thread asker(@Nullable Thread owner) {
    return owner != null ? owner : caller != null ? caller : Thread.currentThread();
  }

  private LockProtocol protocolForCaller() {
    return caller == null ? bindToCaller() : protocol;
  }

  private LockProtocol bindToCaller() {
    return protocol instanceof CallerAwareProtocol aware ? aware.boundTo(this::holdOf) : protocol;
  }

  @Override
  public Optional<String> selfDeadlock() {
    return protocol instanceof CallerAwareProtocol aware
        ? aware.selfDeadlock(this::holdOf)
        : Optional.empty();
  }

  @Override
  public RedisLeaseSource boundToCaller() {
    return new RedisLeaseSource(identity, services, bindToCaller(), Thread.currentThread());
  }

  /** Returns the current thread's valid hold of this lock in that kind, and pins it. */
  private Optional<CallerHold> holdOf(String kind) {
    return ThreadOwnership.leaseOf(identity.ofKind(kind))
        .map(lease -> (RedisHold) lease)
        .filter(RedisHold::pin)
        .map(it -> new CallerHold(it.holder(), it.fencingToken(), it.lastReservedToken()));
  }

  @Override
  public Future<?> submit(Runnable task) {
    return services.workers().submitBlocking(task);
  }

  @Override
  public void notifyUser(Runnable notification) {
    context.notifications().listeners().execute(notification);
  }

  @Override
  public void log(Runnable line) {
    context.notifications().logs().execute(line);
  }

  @Override
  public void notifyDependent(Runnable notification) {
    context.notifications().dependents().execute(notification);
  }

  @Override
  public boolean isClosed() {
    return context.isClosed();
  }

  @Override
  public Runnable schedule(Runnable task, long delayNanos) {
    return context.tasks().schedule(task, delayNanos);
  }

  // ---- questions

  @Override
  public Optional<Duration> remainingLease() {
    long millis = (Long) query(protocol.queryLease());
    if (millis == -2) {
      return Optional.empty();
    }
    return Optional.of(millis < 0 ? LockOptions.MAX_LEASE : Duration.ofMillis(millis));
  }

  @Override
  public LockInspection inspect() {
    context.ensureOpen(protocol.name());
    try {
      return services.inspector().inspect(protocol.name(), dependsOnCaller());
    } catch (CommandException fault) {
      throw LockExceptions.from(fault, protocol.name());
    }
  }

  @Override
  public List<String> waitingHolders() {
    LockId lock = LockId.of(protocol);
    return context.scheduler().entries(WaiterHeartbeat.class).stream()
        .filter(waiter -> LockId.of(waiter.protocol()).equals(lock))
        .map(WaiterHeartbeat::holder)
        .toList();
  }

  @Override
  public Object query(ScriptCall call) {
    context.ensureOpen(protocol.name());
    try {
      return context.commands().run(call).value();
    } catch (CommandException fault) {
      throw LockExceptions.from(fault, protocol.name());
    }
  }

  /** Never repeated automatically, because a repetition may hit the next holder. */
  @Override
  public boolean forceUnlock() {
    context.ensureOpen(protocol.name());
    try {
      boolean held = (Long) context.commands().runAtMostOnce(protocol.forceRelease()).value() == 1;
      context.holds().endEpoch();
      context.observer().forced(protocol);
      // Verified before this returns, so that the local queue moves on.
      localHolds().forEach(RegisteredHold::verifyQuietly);
      return held;
    } catch (CommandException fault) {
      context.holds().endEpoch();
      localHolds().forEach(RegisteredHold::requestVerification);
      throw fault.mayHaveExecuted() && !fault.isServerReply()
          ? LockExceptions.from(
              fault,
              protocol.name(),
              "it is not known whether the lock was taken by force; look at who holds it before"
                  + " doing so again")
          : LockExceptions.from(fault, protocol.name());
    }
  }

  private List<RegisteredHold> localHolds() {
    return context.holds().all().stream()
        .filter(hold -> hold.isValid() && hold.lockName().equals(name()))
        .toList();
  }

  @Override
  public String toString() {
    return identity + " of client " + services.clientId();
  }
}
