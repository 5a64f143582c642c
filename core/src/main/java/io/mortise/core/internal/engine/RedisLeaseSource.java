package io.mortise.core.internal.engine;

import io.mortise.connection.pool.CommandException;
import io.mortise.core.LockClient;
import io.mortise.core.LockInspection;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.acquire.ReportedAcquisition;
import io.mortise.core.internal.acquire.WaiterHeartbeat;
import io.mortise.core.internal.lease.HolderId;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.LockExceptions;
import io.mortise.core.internal.lease.RedisHold;
import io.mortise.core.internal.lease.RegisteredHold;
import io.mortise.core.spi.CallerAwareProtocol;
import io.mortise.core.spi.GroupAttemptResult;
import io.mortise.core.spi.GroupProtocol;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockKey;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.OwnedLease;
import io.mortise.core.spi.ProtocolLeaseSource;
import io.mortise.core.spi.ThreadOwnership;
import io.mortise.scripts.ScriptCall;
import java.time.Duration;
import java.util.Comparator;
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
  private final RedisLockClient client;
  private final LeaseContext context;
  private final LockProtocol protocol;
  private final Identity identity;

  /** The thread that began the acquisition, and to which the protocol is bound; null if none. */
  private final @Nullable Thread caller;

  /** The lock of one kind and name, of one client. */
  private record Identity(RedisLockClient client, String id) {
    @Override
    public String toString() {
      return id + " of client " + client.id();
    }
  }

  private RedisLeaseSource(RedisLockClient client, LockProtocol protocol, @Nullable Thread caller) {
    this.client = client;
    this.context = client.context().lease();
    this.protocol = protocol;
    this.identity = new Identity(client, LeaseContext.idOf(protocol));
    this.caller = caller;
  }

  /** Returns the leases of a protocol. */
  public static RedisLeaseSource of(LockClient client, LockProtocol protocol) {
    return new RedisLeaseSource((RedisLockClient) client, protocol, null);
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
  public String kind() {
    return protocol.kind();
  }

  @Override
  public String name() {
    return protocol.name().value();
  }

  @Override
  public LockOptions options() {
    return client.options();
  }

  @Override
  public Set<LockKey> places() {
    return Set.of(new LockKey(client, name()));
  }

  @Override
  public boolean dependsOnCaller() {
    return CallerAwareProtocol.of(protocol).isPresent();
  }

  /** Returns whether the other source has the same client, family, and slot. */
  @Override
  public boolean joins(LeaseSource other) {
    return other instanceof RedisLeaseSource source
        && client == source.client
        && protocol.kind().equals(source.protocol.kind())
        && GroupProtocol.of(protocol).isPresent()
        && context.commands().haveOneSlot(protocol.queryLease(), source.protocol.queryLease());
  }

  @Override
  public GroupAttemptResult acquireTogether(
      List<? extends LeaseSource> sources, LeaseTerms terms, @Nullable Thread owner)
      throws InterruptedException {
    List<GroupProtocol> protocols =
        sources.stream()
            .map(source -> GroupProtocol.of(((RedisLeaseSource) source).protocol).orElseThrow())
            .toList();
    return ReportedAcquisition.ofGroup(client.context(), protocols, terms, owner, asker(owner));
  }

  // ---- acquisitions

  @Override
  public Optional<OwnedLease> acquire(LeaseTerms terms, @Nullable Thread owner)
      throws InterruptedException {
    RedisHold hold =
        ReportedAcquisition.of(
            client.context(), this, protocolForCaller(), terms, owner, asker(owner));
    boolean delivered = false;
    try {
      Optional<OwnedLease> result = Optional.ofNullable(hold);
      delivered = true;
      return result;
    } finally {
      if (!delivered && hold != null) { // an error: no caller gets it
        hold.drop();
      }
    }
  }

  /** Returns the thread that asks for the lock; the calling thread may do it on its behalf. */
  private Thread asker(@Nullable Thread owner) {
    return owner != null ? owner : caller != null ? caller : Thread.currentThread();
  }

  private LockProtocol protocolForCaller() {
    return caller == null ? bindToCaller() : protocol;
  }

  private LockProtocol bindToCaller() {
    return CallerAwareProtocol.of(protocol)
        .map(aware -> aware.boundTo(this::holderOf))
        .orElse(protocol);
  }

  @Override
  public Optional<String> selfDeadlock() {
    return CallerAwareProtocol.of(protocol).flatMap(aware -> aware.selfDeadlock(this::holderOf));
  }

  @Override
  public RedisLeaseSource boundToCaller() {
    return new RedisLeaseSource(client, bindToCaller(), Thread.currentThread());
  }

  /** Returns the holder id of the current thread's valid hold of this lock in that kind. */
  private Optional<String> holderOf(String kind) {
    return ThreadOwnership.leaseOf(new Identity(client, LeaseContext.idOf(kind, protocol.name())))
        .filter(OwnedLease::isValid)
        .map(lease -> ((RedisHold) lease).holder());
  }

  @Override
  public Future<?> submit(Runnable task) {
    return client.workers().submitBlocking(task);
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
      return client.inspector().inspect(protocol.name(), dependsOnCaller());
    } catch (CommandException fault) {
      throw LockExceptions.from(fault, protocol.name());
    }
  }

  @Override
  public List<String> waitingHolders() {
    return context.scheduler().entries(WaiterHeartbeat.class).stream()
        .filter(waiter -> LeaseContext.idOf(waiter.protocol()).equals(identity.id()))
        .map(WaiterHeartbeat::holder)
        .sorted(Comparator.comparingLong(holder -> HolderId.of(holder).number()))
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

  /**
   * Releases the lock by force; never repeated automatically, because a repetition may hit the next
   * holder.
   */
  @Override
  public boolean forceUnlock() {
    context.ensureOpen(protocol.name());
    try {
      boolean forced =
          (Long) context.commands().runAtMostOnce(protocol.forceRelease()).value() == 1;
      context.holds().endEpoch();
      // The holds of this client are verified before this returns, so that the local queue moves
      // on.
      localHolds().forEach(RegisteredHold::verifyQuietly);
      return forced;
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
    return identity.toString();
  }
}
