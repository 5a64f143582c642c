package io.mortise.core.internal;

import static io.mortise.core.spi.ScriptCall.bytes;

import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockNode;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.ScriptCall;
import io.mortise.scripts.Script;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.UnifiedJedis;

/** What all locks of one client share, put together: the only implementation of a client. */
public final class Engine implements LockClient, LockNode {
  static final Logger LOG = LoggerFactory.getLogger(LockClient.class);
  private static final int VERSION_AT = 14;
  private static final long PAUSE_NANOS = 100_000_000L;
  private static final Script RAISE = Script.load("lock/raise");

  /** As often as a hold is renewed, but not less often than this. */
  private static final long MOST_HEARTBEAT_NANOS = 10_000_000_000L;

  /** When to try again to start a thread. */
  private static final long NO_THREAD_NANOS = 200_000_000L;

  private final String id = clientId();
  private final AtomicLong acquisitions = new AtomicLong();
  private final AtomicLong epoch = new AtomicLong();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Signal closing = new Signal();

  private final Underway underway = new Underway();

  private final LockOptions options;
  private final Deployment servers;
  private final Commands commands;
  private final Workers workers;
  private final Batches batches;
  private final Scheduler scheduler;
  private final Wakeups wakeups;
  private final Gates gates = new Gates(this::nanos);
  private final Courtesy courtesy;
  private final Releases releases;
  private final Shares shares = new Shares(this);
  private final ServerId serverId = new ServerId();
  private final Drift drift;

  /** When a broken connection last had the holds verified. */
  private final AtomicLong brokenNanos;

  /** Whether they will be verified once more when the pause after that is over. */
  private final AtomicBoolean verifiesLater = new AtomicBoolean();

  private Engine(LockOptions options, Function<Workers, Deployment> servers) {
    this(options, servers, Workers::thread, new Courtesy());
  }

  Engine(
      LockOptions options,
      Function<Workers, Deployment> servers,
      Workers.Maker threads,
      Courtesy courtesy) {
    this.options = options;
    this.courtesy = courtesy;
    this.brokenNanos = new AtomicLong(nanos() - PAUSE_NANOS);
    this.drift = new Drift(options.clockDrift());
    this.workers = new Workers(id.substring(0, 8), threads);
    this.servers = servers.apply(workers);
    this.servers.onBroken(this::connectionBroke);
    this.servers.onChange(this::serverChanged);
    this.commands = new Commands(this.servers, workers, options);
    this.batches = new Batches(commands, workers);
    this.scheduler = new Scheduler(System::nanoTime, batches::flush, workers.threads("scheduler"));
    this.wakeups =
        new Wakeups(
            this.servers,
            workers,
            scheduler,
            options.subscriptionLinger().toNanos(),
            Math.min(MOST_HEARTBEAT_NANOS, options.lease().toNanos() / 3),
            options.commandTimeout().toNanos(),
            this::connectionBroke);
    this.releases = new Releases(this);
    if (this.servers.mayChange()) {
      scheduler.add(new FailoverWatch(this, this.servers));
    }
    scheduler.start();
  }

  /** A client with connections of its own. */
  public static LockClient create(String uri, LockOptions options) {
    return checked(new Engine(options, workers -> Connector.servers(uri, options, workers)));
  }

  /** A client on the connections of the caller's. */
  public static LockClient create(UnifiedJedis jedis, LockOptions options) {
    return checked(new Engine(options, workers -> Connector.servers(jedis, options, workers)));
  }

  /** So that a server which cannot do what the options want is told at the start. */
  private static LockClient checked(Engine engine) {
    try {
      engine.commands.probeAcknowledgements();
      return engine;
    } catch (Fault fault) {
      engine.close();
      throw new LockException(fault.reason(), String.valueOf(fault.getMessage()), fault.getCause());
    }
  }

  @Override
  public String id() {
    return id;
  }

  @Override
  public LockOptions options() {
    return options;
  }

  @Override
  public boolean isClosed() {
    return closed.get();
  }

  @Override
  public Status status() {
    int holds = 0;
    for (LeaseHandle lease : leases()) {
      holds += lease.isValid() ? 1 : 0;
    }
    return new Status(
        holds,
        gates.size(),
        wakeups.channels(),
        releases.size(),
        scheduler.size() - scheduler.entries(FailoverWatch.class).size(),
        servers.connectionsInUse());
  }

  /**
   * Waiters leave first: an attempt that is under way may still be granted, and whoever made it
   * releases it then. Next holds are given up, but for those that their owners are releasing just
   * now. What has to be repeated is tried once more. Only then the threads and connections end that
   * all of it needs.
   */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    closing.fire();
    gates.close();
    wakeups.close();
    long deadlineNanos = nanos() + commands.timeoutNanos();
    underway.awaitNone(commands.timeoutNanos() / 2); // the other half is the holds'
    List<ScriptCall> holds = new ArrayList<>();
    for (LeaseHandle lease : leases()) {
      if (lease
          .end()
          .lose(Reason.CLIENT_CLOSED, nanos(), "its client was closed while it was held")) {
        holds.add(lease.releaseCall());
      }
    }
    giveUp(holds, releases.takeAll(), deadlineNanos);
    underway.awaitNone(deadlineNanos - nanos());
    giveUp(List.of(), releases.takeAll(), deadlineNanos); // of those who were still under way
    scheduler.close();
    scheduler.clear();
    workers.close(Math.max(0, deadlineNanos - nanos()));
    servers.close();
  }

  /**
   * Sends all together, and so writes all of them before the first answer is awaited: a server that
   * hangs finds them when it goes on, also if nobody waits for that long.
   */
  private void giveUp(List<ScriptCall> holds, List<ScriptCall> others, long deadlineNanos) {
    List<ScriptCall> calls = new ArrayList<>(holds);
    calls.addAll(others);
    List<Fault> faults =
        commands.many().allAlsoUnread(calls, deadlineNanos).stream()
            .flatMap(answer -> Stream.ofNullable(answer.fault()))
            .toList();
    if (!faults.isEmpty()) {
      LOG.warn(
          "client {} was closed, and the release of {} holds or places in queues was not confirmed;"
              + " they end by themselves at the latest: {}",
          id,
          faults.size(),
          faults.get(0).getMessage());
    }
  }

  /**
   * A random UUID of version 8, the one for meanings of one's own: scripts that meet a waiter in a
   * queue tell Mortise's from Redisson's by it, whose are of version 4.
   */
  private static String clientId() {
    StringBuilder id = new StringBuilder(UUID.randomUUID().toString());
    id.setCharAt(VERSION_AT, '8');
    return id.toString();
  }

  // ---- for the parts of the engine

  String nextHolder() {
    return id + ":" + acquisitions.incrementAndGet();
  }

  String idOf(LockProtocol protocol) {
    return idOf(protocol.kind(), protocol.name());
  }

  String idOf(String kind, LockName name) {
    return kind + ":" + name.value();
  }

  /**
   * Registers a hold, so that whoever looks at the client's holds sees it; unless something may
   * have happened to them that this one was not yet seen by.
   *
   * @param sentEpoch the epoch from before the request that granted it
   * @return false when the epoch is another: then it is not registered, and nobody has it
   */
  boolean register(LeaseHandle lease, long sentEpoch) {
    if (sentEpoch != epoch()) {
      return false;
    }
    register(lease);
    if (sentEpoch == epoch()) {
      return true;
    }
    // Whoever has made the epoch another may have looked before this one was there, or after.
    scheduler.remove(lease.renewal());
    lease.end().discard();
    return false;
  }

  private void register(LeaseHandle lease) {
    scheduler.add(lease.renewal());
    if (closed.get()
        && lease
            .end()
            .lose(Reason.CLIENT_CLOSED, nanos(), "its client was closed at that moment")) {
      scheduler.remove(lease.renewal());
      try {
        commands.run(lease.releaseCall());
      } catch (Fault fault) {
        LOG.warn("{}: could not be released at closing", lease, fault);
      }
      ensureOpen(lease.protocol().name());
    }
  }

  /**
   * The server may have restarted: holds are verified, but not once for each connection. What
   * happens during the pause after that is looked at when the pause is over.
   */
  private void connectionBroke() {
    long now = nanos();
    long last = brokenNanos.get();
    if (now - last > PAUSE_NANOS && brokenNanos.compareAndSet(last, now)) {
      verifyHolds();
      return;
    }
    epochEnds(); // at once, so that nothing passes on or is joined meanwhile
    if (!closed.get() && verifiesLater.compareAndSet(false, true)) {
      boolean added = false;
      try {
        scheduler.add(new Later(this, this::verifyAfterPause, last + PAUSE_NANOS));
        added = true;
      } finally {
        if (!added) {
          verifiesLater.set(false);
        }
      }
    }
  }

  private void verifyAfterPause() {
    verifiesLater.set(false); // before the look, so that what happens after it begins the next
    brokenNanos.set(nanos());
    verifyHolds();
  }

  /** What was said to the old server may be lost: holds are verified, waiters ask again. */
  private void serverChanged() {
    wakeups.serverChanged();
    verifyHolds();
  }

  /** Whether anything is held or waited for: whether there is more to look after than the watch. */
  boolean isInUse() {
    return scheduler.size() > 1;
  }

  /**
   * Goes up whenever something may have happened to the holds of this client, so that one that is
   * just passing from thread to thread is not overlooked.
   */
  long epoch() {
    return epoch.get();
  }

  /** To be called before the holds are looked at. */
  void epochEnds() {
    epoch.incrementAndGet();
  }

  /** Asks Redis soon whether all holds are still there. */
  void verifyHolds() {
    epochEnds();
    for (LeaseHandle lease : leases()) {
      lease.renewal().verify();
    }
  }

  /** What is held, and what was lost and has still to be unlocked by its thread. */
  List<LeaseHandle> leases() {
    return scheduler.entries(Renewal.class).stream().map(Renewal::lease).toList();
  }

  void forget(LeaseHandle lease) {
    scheduler.remove(lease.renewal());
  }

  void ensureOpen(LockName name) {
    if (closed.get()) {
      throw new LockException(
          LockException.Reason.CLIENT_CLOSED, "lock '" + name + "': its client was closed", null);
    }
  }

  /** What raises the token of a hold; the hash and the token have one layout in all families. */
  ScriptCall raise(LockProtocol protocol, String holder, long token) {
    LockName name = protocol.name();
    return new ScriptCall(
        RAISE,
        List.of(bytes(name.value()), bytes(name.tokenKey())),
        List.of(
            bytes(protocol.field(holder)),
            bytes(token),
            bytes(options.tokenIdleLife().toMillis())));
  }

  Drift drift() {
    return drift;
  }

  /**
   * Runs a task on a worker; a little later, when no thread can be started now. What ends a hold
   * must not fail halfway for want of a thread.
   */
  void soon(Runnable task) {
    try {
      workers.run(task);
    } catch (OutOfMemoryError noThread) {
      LOG.error("client {}: no thread can be started; a task has to wait", id, noThread);
      later(task, NO_THREAD_NANOS);
    }
  }

  /** Runs a short task once, later; the result takes it back. */
  Runnable later(Runnable task, long delayNanos) {
    if (closed.get()) {
      throw new RejectedExecutionException("the client was closed");
    }
    Later later = new Later(this, task, nanos() + delayNanos);
    scheduler.add(later);
    return () -> scheduler.remove(later);
  }

  // ---- the server, for locks over several

  @Override
  public String address() {
    return servers.toString();
  }

  @Override
  public Optional<String> serverId() {
    return servers.clusterId().or(() -> serverId.get(commands));
  }

  @Override
  public String toString() {
    return "LockClient " + id + " of " + servers + (closed.get() ? ", closed" : "");
  }

  /** To be counted in, around each acquisition and each release. */
  Underway underway() {
    return underway;
  }

  long nanos() {
    return System.nanoTime();
  }

  double random() {
    return ThreadLocalRandom.current().nextDouble();
  }

  Signal closing() {
    return closing;
  }

  Commands commands() {
    return commands;
  }

  Workers workers() {
    return workers;
  }

  Batches batches() {
    return batches;
  }

  Scheduler scheduler() {
    return scheduler;
  }

  Wakeups wakeups() {
    return wakeups;
  }

  Gates gates() {
    return gates;
  }

  Courtesy courtesy() {
    return courtesy;
  }

  Shares shares() {
    return shares;
  }

  Releases releases() {
    return releases;
  }
}
