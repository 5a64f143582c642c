package io.mortise.core.internal.engine;

import com.google.common.base.Ticker;
import io.mortise.connection.command.BatchCollector;
import io.mortise.connection.command.CachedRunId;
import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.BackgroundTasks;
import io.mortise.connection.concurrent.ClosingState;
import io.mortise.connection.concurrent.OperationCounter;
import io.mortise.connection.concurrent.Scheduler;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.ConnectionSettings;
import io.mortise.connection.pool.ConnectionSettings.Durability;
import io.mortise.connection.pool.ConnectionSettings.Security;
import io.mortise.connection.pool.ConnectionSettings.Tls;
import io.mortise.connection.pubsub.SubscriptionTimings;
import io.mortise.connection.pubsub.Subscriptions;
import io.mortise.connection.topology.FailoverMonitor;
import io.mortise.connection.topology.Topology;
import io.mortise.connection.topology.TopologyFactory;
import io.mortise.core.Acknowledgement;
import io.mortise.core.ConnectionSecurity;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.ServerHealth;
import io.mortise.core.internal.acquire.AcquireContext;
import io.mortise.core.internal.acquire.NotifiedWaiters;
import io.mortise.core.internal.acquire.ReleaseEffects;
import io.mortise.core.internal.acquire.ReleaseFairness;
import io.mortise.core.internal.event.EventContext;
import io.mortise.core.internal.event.EventQueue;
import io.mortise.core.internal.event.ServerEvents;
import io.mortise.core.internal.handoff.LocalQueues;
import io.mortise.core.internal.handoff.RunWaiters;
import io.mortise.core.internal.handoff.SharedHolds;
import io.mortise.core.internal.inspect.ClientRecord;
import io.mortise.core.internal.inspect.HealthCheck;
import io.mortise.core.internal.inspect.LockInspector;
import io.mortise.core.internal.inspect.LockSearch;
import io.mortise.core.internal.lease.BackgroundReleaser;
import io.mortise.core.internal.lease.ClockDrift;
import io.mortise.core.internal.lease.Completions;
import io.mortise.core.internal.lease.FailedRenewals;
import io.mortise.core.internal.lease.HoldRegistry;
import io.mortise.core.internal.lease.HolderIds;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.LockExceptions;
import io.mortise.core.internal.lease.NotificationWorkers;
import io.mortise.core.internal.lease.RegisteredHold;
import io.mortise.core.internal.lease.ReleaseObserver;
import io.mortise.core.internal.lease.SuspensionMonitor;
import io.mortise.core.spi.RedisDeployment;
import io.mortise.core.spi.WaitPolicy;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import javax.net.ssl.SSLContext;
import redis.clients.jedis.UnifiedJedis;

/**
 * The lock client: wires the services that all its locks share.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 */
public final class RedisLockClient implements LockClient, RedisDeployment {
  private static final int VERSION_INDEX = 14;

  /** The maximum interval of the subscriptions' heartbeat; otherwise that of a renewal. */
  private static final long MAX_HEARTBEAT_NANOS = 10_000_000_000L;

  /** The counts of one moment. */
  private record ClientStatus(
      int holds,
      int contended,
      int waiters,
      int channels,
      int pendingReleases,
      int scheduled,
      int connectionsInUse,
      int unreachableServers,
      long droppedEvents)
      implements Status {}

  private static final Ticker CLOCK = Ticker.systemTicker();

  /** Chooses among servers and addresses, where it is needed so rarely that all may share it. */
  private static final Random RANDOM = new Random();

  /** The clock whose time other processes read. */
  private static final InstantSource WALL_CLOCK = InstantSource.system();

  private final String id = clientId();
  private final ClosingState closing = new ClosingState();
  private final CachedRunId serverId = new CachedRunId();
  private final Topology servers;
  private final WorkerPool workers;
  private final AcquireContext context;
  private final SourceContext sources;
  private final ClientRecord record;
  private final HealthCheck health;

  private RedisLockClient(
      LockOptions options, Function<WorkerPool, Topology> servers, WaitPolicy waitPolicy) {
    this(options, servers, WorkerPool::thread, new ReleaseFairness(CLOCK.read()), waitPolicy);
  }

  public RedisLockClient(
      LockOptions options,
      Function<WorkerPool, Topology> servers,
      WorkerPool.NamedThreadFactory threads,
      ReleaseFairness fairness,
      WaitPolicy waitPolicy) {
    ConnectionSettings settings = settings(options, ConnectionSecurity.NONE);
    Ticker ticker = settings.ticker();
    this.workers = new WorkerPool(id.substring(0, 8), threads);
    this.servers = servers.apply(workers);
    ScriptExecutor commands = new ScriptExecutor(this.servers, workers, settings);
    BatchCollector batches = new BatchCollector(commands, workers, ticker);
    Scheduler scheduler = new Scheduler(ticker::read, batches::flush, workers.threads("scheduler"));
    BackgroundTasks tasks = new BackgroundTasks(workers, scheduler, closing, ticker);
    BooleanSupplier inUse = () -> scheduler.size() > 0;
    SuspensionMonitor suspensions =
        new SuspensionMonitor(
            ticker, WALL_CLOCK, inUse, scheduler::reschedule, ms -> holds().clockJumped(ms));
    HoldRegistry holds = new HoldRegistry(scheduler, commands, tasks, closing, suspensions, ticker);
    Completions completions = new Completions(scheduler::reschedule, tasks::run, ticker);
    Subscriptions subscriptions =
        new Subscriptions(
            this.servers,
            workers,
            scheduler,
            ticker,
            new SubscriptionTimings(
                options.tuning().subscriptionLinger().toNanos(),
                Math.min(MAX_HEARTBEAT_NANOS, options.lease().toNanos() / 3),
                options.commandTimeout().toNanos()),
            RedisLockClient::random,
            holds::connectionBroke);
    OperationCounter operations = new OperationCounter(ticker);
    this.record =
        new ClientRecord(
            id,
            WALL_CLOCK.instant(),
            commands,
            scheduler,
            tasks,
            operations,
            closing,
            ticker,
            inUse);
    ReleaseObserver observer =
        new ReleaseEffects(
            subscriptions, fairness, new NotifiedWaiters(commands, tasks, ticker), ticker);
    LeaseContext leases =
        new LeaseContext(
            options,
            new ClockDrift(options.tuning().clockDrift()),
            ticker,
            RedisLockClient::random,
            closing,
            operations,
            commands,
            batches,
            scheduler,
            tasks,
            NotificationWorkers.of(tasks),
            holds,
            completions,
            new BackgroundReleaser(
                commands, scheduler, tasks, closing, ticker, RedisLockClient::random, observer),
            observer,
            new FailedRenewals(ticker),
            events(options, ticker));
    this.context =
        new AcquireContext(
            leases,
            new LocalQueues(ticker::read),
            new SharedHolds(ticker, closing, options.tuning()),
            new RunWaiters(),
            subscriptions,
            fairness,
            new HolderIds(id, WALL_CLOCK, record::used),
            new AtomicInteger());
    this.sources =
        new SourceContext(
            id,
            context,
            new LockInspector(id, commands, holds, record),
            waitPolicy,
            workers,
            task -> {
              var unused = workers.submitBlocking(task);
            });
    this.health = new HealthCheck(id, options, this.servers, commands, workers, ticker, WALL_CLOCK);
    scheduler.addHousekeeping(completions);
    scheduler.addHousekeeping(batches);
    scheduler.addHousekeeping(record);
    scheduler.addHousekeeping(suspensions);
    this.servers.onConnectionLost(holds::connectionBroke);
    this.servers.onChange(this::serverChanged);
    if (this.servers.canFailOver()) {
      scheduler.addHousekeeping(new FailoverMonitor(this.servers, inUse, ticker.read()));
    }
    EventQueue events = leases.events().queue();
    try {
      if (events != null) {
        this.servers.onReachabilityChange(new ServerEvents(leases.events(), events));
        events.start();
      }
      scheduler.start();
    } catch (Throwable e) { // as when no thread can be started: nobody gets the client
      close();
      throw e;
    }
  }

  private static double random() {
    return ThreadLocalRandom.current().nextDouble();
  }

  private EventContext events(LockOptions options, Ticker ticker) {
    EventQueue queue =
        options.listeners().isEmpty()
            ? null
            : new EventQueue(options.listeners(), ticker, workers.threads("events"));
    return new EventContext(id, ticker, WALL_CLOCK, LockExceptions::from, new AtomicLong(), queue);
  }

  /** Creates a client with its own connections. */
  public static LockClient create(String uri, ConnectionSecurity security, LockOptions options) {
    ConnectionSettings settings = settings(options, security);
    return probed(
        new RedisLockClient(
            options,
            workers -> TopologyFactory.create(uri, settings, workers),
            WaitPolicy.AS_ASKED));
  }

  /** Creates a client on the connections of the caller. */
  public static LockClient create(UnifiedJedis jedis, LockOptions options) {
    return create(jedis, options, WaitPolicy.AS_ASKED);
  }

  /** The same, for a test that decides how long acquisitions wait. */
  public static LockClient create(UnifiedJedis jedis, LockOptions options, WaitPolicy waitPolicy) {
    return probed(
        new RedisLockClient(
            options,
            workers ->
                TopologyFactory.create(jedis, settings(options, ConnectionSecurity.NONE), workers),
            waitPolicy));
  }

  /** Returns settings with the ticker of the client: all clients have that of the system. */
  private static ConnectionSettings settings(LockOptions options, ConnectionSecurity security) {
    SSLContext context = security.tls();
    Acknowledgement acknowledgement = options.acknowledgement();
    return new ConnectionSettings(
        options.tuning().maxConnections(),
        options.commandTimeout(),
        new Durability(
            acknowledgement.replicas(), acknowledgement.onDisk(), acknowledgement.within()),
        new Security(
            context == null
                ? null
                : new Tls(context, security.tlsProtocols(), security.tlsCipherSuites()),
            security.sentinelUser(),
            security.sentinelPassword()),
        CLOCK,
        RANDOM);
  }

  /**
   * Returns the client once its server is known to support the options; otherwise closes it and
   * throws.
   */
  private static LockClient probed(RedisLockClient client) {
    try {
      client.commands().probeAcknowledgements();
      return client;
    } catch (CommandException fault) {
      client.close();
      throw LockExceptions.from(fault);
    }
  }

  /**
   * Returns a random UUID of version 8, which is free for private use. Scripts that meet a waiter
   * in a queue distinguish Mortise from Redisson by it, whose UUIDs have version 4.
   */
  private static String clientId() {
    StringBuilder id = new StringBuilder(UUID.randomUUID().toString());
    id.setCharAt(VERSION_INDEX, '8');
    return id.toString();
  }

  /** Returns the services that the acquisitions of this client need. */
  public AcquireContext context() {
    return context;
  }

  /** Returns the services that the locks of this client need. */
  SourceContext sources() {
    return sources;
  }

  private ScriptExecutor commands() {
    return context.lease().commands();
  }

  private Scheduler scheduler() {
    return context.lease().scheduler();
  }

  private HoldRegistry holds() {
    return context.lease().holds();
  }

  /**
   * Verifies the holds and wakes the waiters, because the new server may lack what the old one had.
   */
  private void serverChanged() {
    context.subscriptions().serverChanged();
    holds().verifyAll();
  }

  @Override
  public String id() {
    return id;
  }

  @Override
  public LockOptions options() {
    return context.options();
  }

  @Override
  public boolean isClosed() {
    return closing.isClosed();
  }

  /** Returns the search for locks, for tools. */
  public LockSearch search() {
    return new LockSearch(
        servers, sources.inspector(), commands().timeoutNanos(), context.lease().ticker());
  }

  @Override
  public ServerHealth ping() {
    if (closing.isClosed()) {
      throw new LockException(
          LockException.Reason.CLIENT_CLOSED, "client " + id + " was closed", null);
    }
    return health.run();
  }

  @Override
  public Status status() {
    EventQueue events = context.lease().events().queue();
    return new ClientStatus(
        (int) holds().all().stream().filter(RegisteredHold::isValid).count(),
        context.queues().size(),
        context.waiters(),
        context.subscriptions().channels(),
        context.lease().releases().size(),
        scheduler().size(),
        servers.connectionsInUse(),
        servers.unreachableServers(),
        events == null ? 0 : events.dropped());
  }

  /** Closes the client: see {@link ClientShutdown}. */
  @Override
  public void close() {
    if (closing.begin()) {
      new ClientShutdown(id, context, servers, workers, record).run();
    }
  }

  // ---- the server, for locks over several servers

  @Override
  public String address() {
    return servers.toString();
  }

  @Override
  public Optional<String> serverId(long withinNanos) {
    return servers
        .clusterId(Math.min(withinNanos, commands().timeoutNanos()))
        .or(() -> serverId.get(commands(), withinNanos));
  }

  @Override
  public String toString() {
    return "LockClient " + id + " of " + servers + (closing.isClosed() ? ", closed" : "");
  }
}
