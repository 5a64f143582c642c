package io.mortise.core.internal;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.LockPlace;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.OwnedLease;
import io.mortise.core.spi.Ownership;
import io.mortise.core.spi.ProtocolSource;
import io.mortise.core.spi.ScriptCall;
import io.mortise.core.spi.Terms;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** One protocol on one engine: its leases come from {@link Acquisition}. */
public final class EngineSource implements ProtocolSource {
  private final Engine engine;
  private final LockProtocol protocol;
  private final Identity identity;

  /** Whether the protocol is already that of the caller who began the acquisition. */
  private final boolean called;

  /** The lock of that kind and name, of that client. */
  private record Identity(Engine engine, String id) {
    @Override
    public String toString() {
      return id + " of client " + engine.id();
    }
  }

  private EngineSource(Engine engine, LockProtocol protocol, boolean called) {
    this.engine = engine;
    this.protocol = protocol;
    this.identity = new Identity(engine, engine.idOf(protocol));
    this.called = called;
  }

  /** The leases of that protocol. */
  public static EngineSource of(LockClient client, LockProtocol protocol) {
    return new EngineSource((Engine) client, protocol, false);
  }

  Engine engine() {
    return engine;
  }

  /** The lock's kind and name. */
  String id() {
    return identity.id();
  }

  LockProtocol protocol() {
    return protocol;
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
  public Set<LockPlace> places() {
    return Set.of(new LockPlace(engine, name()));
  }

  @Override
  public boolean dependsOnCaller() {
    return protocol.dependsOnCaller();
  }

  /** Whether both can be taken by one script: of one client, one family, and one slot. */
  public boolean joins(EngineSource other) {
    return engine == other.engine
        && protocol.kind().equals(other.protocol.kind())
        && protocol.acquireTogether("", 1).isPresent()
        && engine.commands().haveOneSlot(protocol.inspect(), other.protocol.inspect());
  }

  // ---- acquisitions

  @Override
  public Optional<OwnedLease> acquire(Terms terms, @Nullable Thread owner)
      throws InterruptedException {
    return Optional.ofNullable(Acquisition.acquire(this, asked(), terms, owner));
  }

  private LockProtocol asked() {
    return called ? protocol : protocol.forCaller(this::holderOf);
  }

  @Override
  public Optional<String> obstacle() {
    return protocol.obstacle(this::holderOf);
  }

  @Override
  public EngineSource detached() {
    return new EngineSource(engine, protocol.forCaller(this::holderOf), true);
  }

  /** The current thread, as a protocol sees it. */
  private Optional<String> holderOf(String kind) {
    return Ownership.holdOf(new Identity(engine, engine.idOf(kind, protocol.name())))
        .filter(OwnedLease::isValid)
        .map(
            lease ->
                lease instanceof SharedHold shared
                    ? shared.holder()
                    : ((LeaseHandle) lease).holder());
  }

  @Override
  public Future<?> submit(Runnable task) {
    return engine.workers().runWaiting(task);
  }

  @Override
  public Runnable schedule(Runnable task, long delayNanos) {
    return engine.later(task, delayNanos);
  }

  // ---- questions

  @Override
  public Optional<Duration> remainingLease() {
    long millis = ask(protocol.inspect());
    if (millis == -2) {
      return Optional.empty();
    }
    return Optional.of(millis < 0 ? LockOptions.MAX_LEASE : Duration.ofMillis(millis));
  }

  @Override
  public List<String> waitingHolders() {
    return engine.scheduler().entries(Waiter.class).stream()
        .filter(waiter -> engine.idOf(waiter.protocol()).equals(identity.id()))
        .map(Waiter::holder)
        .sorted(Comparator.comparingLong(EngineSource::number))
        .toList();
  }

  private static long number(String holder) {
    return Long.parseLong(holder.substring(holder.lastIndexOf(':') + 1));
  }

  @Override
  public Object query(ScriptCall call) {
    engine.ensureOpen(protocol.name());
    try {
      return engine.commands().run(call).value();
    } catch (Fault fault) {
      throw fault.forCaller(protocol.name());
    }
  }

  /** Never repeated by itself: what it hits the second time may be the next holder. */
  @Override
  public boolean forceUnlock() {
    engine.ensureOpen(protocol.name());
    try {
      boolean forced = (Long) engine.commands().runOnce(protocol.force()).value() == 1;
      engine.epochEnds();
      // Those of this client are told before this returns: so the line is open to the next.
      holdsHere().forEach(Renewal::verifyNow);
      return forced;
    } catch (Fault fault) {
      engine.epochEnds();
      holdsHere().forEach(Renewal::verify);
      throw fault.mayHaveRun() && !fault.isAnswer()
          ? fault.forCaller(
              protocol.name(),
              "it is not known whether the lock was taken by force; look at who holds it before"
                  + " doing so again")
          : fault.forCaller(protocol.name());
    }
  }

  private List<Renewal> holdsHere() {
    return engine.leases().stream()
        .filter(lease -> lease.isValid() && lease.protocol().name().equals(protocol.name()))
        .map(LeaseHandle::renewal)
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
