package io.mortise.core.internal.engine;

import io.mortise.connection.pool.CommandException;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.acquire.Acquisition;
import io.mortise.core.internal.acquire.GroupAcquisition;
import io.mortise.core.internal.acquire.WaiterHeartbeat;
import io.mortise.core.internal.handoff.SharedLease;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.LeaseRenewal;
import io.mortise.core.internal.lease.LockExceptions;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.spi.GroupAttemptResult;
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

/** One protocol on one engine: its leases come from {@link Acquisition}. */
public final class RedisLeaseSource implements ProtocolLeaseSource {
  private final RedisLockClient engine;
  private final LeaseContext leases;
  private final LockProtocol protocol;
  private final Identity identity;

  /** Whether the protocol is already that of the caller who began the acquisition. */
  private final boolean called;

  /** The lock of that kind and name, of that client. */
  private record Identity(RedisLockClient engine, String id) {
    @Override
    public String toString() {
      return id + " of client " + engine.id();
    }
  }

  private RedisLeaseSource(RedisLockClient engine, LockProtocol protocol, boolean called) {
    this.engine = engine;
    this.leases = engine.context().lease();
    this.protocol = protocol;
    this.identity = new Identity(engine, LeaseContext.idOf(protocol));
    this.called = called;
  }

  /** The leases of that protocol. */
  public static RedisLeaseSource of(LockClient client, LockProtocol protocol) {
    return new RedisLeaseSource((RedisLockClient) client, protocol, false);
  }

  @Override
  public Object identity() {
    return identity;
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
    return engine.options();
  }

  @Override
  public Set<LockKey> places() {
    return Set.of(new LockKey(engine, name()));
  }

  @Override
  public boolean dependsOnCaller() {
    return protocol.dependsOnCaller();
  }

  /** Of one client, one family, and one slot. */
  @Override
  public boolean joins(LeaseSource other) {
    return other instanceof RedisLeaseSource source
        && engine == source.engine
        && protocol.kind().equals(source.protocol.kind())
        && protocol.acquireTogether("", 1).isPresent()
        && leases.commands().haveOneSlot(protocol.queryLease(), source.protocol.queryLease());
  }

  @Override
  public GroupAttemptResult acquireTogether(
      List<? extends LeaseSource> sources, LeaseTerms terms, @Nullable Thread owner)
      throws InterruptedException {
    List<LockProtocol> protocols =
        sources.stream().map(source -> ((RedisLeaseSource) source).protocol).toList();
    return GroupAcquisition.make(engine.context(), protocols, terms, owner);
  }

  // ---- acquisitions

  @Override
  public Optional<OwnedLease> acquire(LeaseTerms terms, @Nullable Thread owner)
      throws InterruptedException {
    return Optional.ofNullable(
        Acquisition.acquire(engine.context(), this, protocolForCaller(), terms, owner));
  }

  private LockProtocol protocolForCaller() {
    return called ? protocol : protocol.boundTo(this::holderOf);
  }

  @Override
  public Optional<String> selfDeadlock() {
    return protocol.selfDeadlock(this::holderOf);
  }

  @Override
  public RedisLeaseSource boundToCaller() {
    return new RedisLeaseSource(engine, protocol.boundTo(this::holderOf), true);
  }

  /** The current thread, as a protocol sees it. */
  private Optional<String> holderOf(String kind) {
    return ThreadOwnership.leaseOf(new Identity(engine, LeaseContext.idOf(kind, protocol.name())))
        .filter(OwnedLease::isValid)
        .map(
            lease ->
                lease instanceof SharedLease shared
                    ? shared.holder()
                    : ((RedisLease) lease).holder());
  }

  @Override
  public Future<?> submit(Runnable task) {
    return engine.workers().submitBlocking(task);
  }

  @Override
  public Runnable schedule(Runnable task, long delayNanos) {
    return leases.tasks().schedule(task, delayNanos);
  }

  // ---- questions

  @Override
  public Optional<Duration> remainingLease() {
    long millis = ask(protocol.queryLease());
    if (millis == -2) {
      return Optional.empty();
    }
    return Optional.of(millis < 0 ? LockOptions.MAX_LEASE : Duration.ofMillis(millis));
  }

  @Override
  public List<String> waitingHolders() {
    return leases.scheduler().entries(WaiterHeartbeat.class).stream()
        .filter(waiter -> LeaseContext.idOf(waiter.protocol()).equals(identity.id()))
        .map(WaiterHeartbeat::holder)
        .sorted(Comparator.comparingLong(RedisLeaseSource::number))
        .toList();
  }

  private static long number(String holder) {
    return Long.parseLong(holder.substring(holder.lastIndexOf(':') + 1));
  }

  @Override
  public Object query(ScriptCall call) {
    leases.ensureOpen(protocol.name());
    try {
      return leases.commands().run(call).value();
    } catch (CommandException fault) {
      throw LockExceptions.from(fault, protocol.name());
    }
  }

  /** Never repeated by itself: what it hits the second time may be the next holder. */
  @Override
  public boolean forceUnlock() {
    leases.ensureOpen(protocol.name());
    try {
      boolean forced = (Long) leases.commands().runAtMostOnce(protocol.forceRelease()).value() == 1;
      leases.holds().endEpoch();
      // Those of this client are told before this returns: so the line is open to the next.
      holdsHere().forEach(LeaseRenewal::verifyQuietly);
      return forced;
    } catch (CommandException fault) {
      leases.holds().endEpoch();
      holdsHere().forEach(LeaseRenewal::requestVerification);
      throw fault.mayHaveExecuted() && !fault.isServerReply()
          ? LockExceptions.from(
              fault,
              protocol.name(),
              "it is not known whether the lock was taken by force; look at who holds it before"
                  + " doing so again")
          : LockExceptions.from(fault, protocol.name());
    }
  }

  private List<LeaseRenewal> holdsHere() {
    return leases.holds().all().stream()
        .filter(lease -> lease.isValid() && lease.protocol().name().equals(protocol.name()))
        .map(RedisLease::renewal)
        .toList();
  }

  private long ask(ScriptCall call) {
    return (Long) query(call);
  }

  @Override
  public String toString() {
    return identity.toString();
  }
}
