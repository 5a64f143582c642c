package io.mortise.core.internal;

import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.ScriptCall;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.UnifiedJedis;

/** What all locks of one client share, put together: the only implementation of a client. */
public final class Engine implements LockClient {
  static final Logger LOG = LoggerFactory.getLogger(LockClient.class);
  private static final int VERSION_AT = 14;

  private final String id = clientId();
  private final AtomicLong acquisitions = new AtomicLong();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Signal closing = new Signal();

  private final LockOptions options;
  private final RedisNode node;
  private final Commands commands;
  private final Workers workers;
  private final Batches batches;
  private final Scheduler scheduler;
  private final Wakeups wakeups;
  private final Gates gates = new Gates();
  private final Releases releases;
  private final Ownership ownership;

  private Engine(RedisNode node, LockOptions options) {
    this.options = options;
    this.node = node;
    this.commands = new Commands(node, options.commandTimeout().toNanos());
    this.workers = new Workers(id.substring(0, 8));
    this.batches = new Batches(commands, workers);
    this.scheduler = new Scheduler(System::nanoTime, batches::flush, workers.threads("scheduler"));
    this.wakeups = new Wakeups(node, workers, scheduler, options.subscriptionLinger().toNanos());
    this.releases = new Releases(this);
    this.ownership = new Ownership(this);
    scheduler.start();
  }

  /** A client with connections of its own. */
  public static LockClient create(String uri, LockOptions options) {
    return new Engine(Connector.node(uri, options), options);
  }

  /** A client on the connections of the caller's. */
  public static LockClient create(UnifiedJedis jedis, LockOptions options) {
    return new Engine(Connector.node(jedis), options);
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
    for (LeaseHandle lease : scheduler.entries(LeaseHandle.class)) {
      holds += lease.isValid() ? 1 : 0;
    }
    return new Status(
        holds,
        gates.size(),
        wakeups.channels(),
        releases.size(),
        scheduler.size(),
        node.connectionsInUse());
  }

  /**
   * Waiters leave first, then holds are given up, then what has to be repeated is tried once more;
   * only then the threads and connections that all of it needs.
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
    List<ScriptCall> calls = new ArrayList<>();
    for (LeaseHandle lease : scheduler.entries(LeaseHandle.class)) {
      if (lease.lose(Reason.CLIENT_CLOSED, nanos(), "its client was closed while it was held")) {
        calls.add(lease.releaseCall());
      }
    }
    try {
      commands.runAll(calls);
    } catch (Fault fault) {
      LOG.warn(
          "{} holds of client {} could not be released at closing and end with their leases: {}",
          calls.size(),
          id,
          fault.getMessage());
    }
    releases.flush(deadlineNanos);
    scheduler.close();
    workers.close(Math.max(0, deadlineNanos - nanos()));
    node.close();
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
    return protocol.kind() + ":" + protocol.name().value();
  }

  void register(LeaseHandle lease) {
    scheduler.add(lease);
    if (closed.get()
        && lease.lose(Reason.CLIENT_CLOSED, nanos(), "its client was closed at that moment")) {
      scheduler.remove(lease);
      try {
        commands.run(lease.releaseCall());
      } catch (Fault fault) {
        LOG.warn("{}: could not be released at closing", lease, fault);
      }
      ensureOpen(lease.protocol().name());
    }
  }

  void forget(LeaseHandle lease) {
    scheduler.remove(lease);
    ownership.forget(lease);
  }

  void ensureOpen(LockName name) {
    if (closed.get()) {
      throw new LockException(
          LockException.Reason.CLIENT_CLOSED, "lock '" + name + "': its client was closed", null);
    }
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

  Releases releases() {
    return releases;
  }

  Ownership ownership() {
    return ownership;
  }
}
