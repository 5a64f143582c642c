package io.mortise.core.internal.engine;

import com.google.common.base.Ticker;
import io.mortise.connection.command.BatchCollector;
import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.BackgroundTasks;
import io.mortise.connection.concurrent.ClosingState;
import io.mortise.connection.concurrent.OperationCounter;
import io.mortise.connection.concurrent.Scheduler;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.ConnectionSettings;
import io.mortise.connection.pubsub.SubscriptionTimings;
import io.mortise.connection.pubsub.Subscriptions;
import io.mortise.connection.topology.Topology;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.acquire.AcquireContext;
import io.mortise.core.internal.event.EventContext;
import io.mortise.core.internal.event.EventQueue;
import io.mortise.core.internal.event.ServerEvents;
import io.mortise.core.internal.handoff.LocalQueues;
import io.mortise.core.internal.handoff.RunWaiters;
import io.mortise.core.internal.handoff.SharedHolds;
import io.mortise.core.internal.inspect.ClientRecord;
import io.mortise.core.internal.inspect.HealthCheck;
import io.mortise.core.internal.inspect.LockInspector;
import io.mortise.core.internal.lease.BackgroundReleaser;
import io.mortise.core.internal.lease.ClockDrift;
import io.mortise.core.internal.lease.Completions;
import io.mortise.core.internal.lease.FailedRenewals;
import io.mortise.core.internal.lease.HoldRegistry;
import io.mortise.core.internal.lease.HolderIds;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.LockExceptions;
import io.mortise.core.internal.lease.NotificationWorkers;
import io.mortise.core.internal.lease.NotifiedWaiters;
import io.mortise.core.internal.lease.ReleaseFairness;
import io.mortise.core.internal.lease.ReleaseObserver;
import io.mortise.core.internal.lease.SuspensionMonitor;
import io.mortise.core.spi.WaitPolicy;
import java.time.InstantSource;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * All services of one client. The constructor is the one place where they are made and wired; each
 * class names in its own constructor what it needs of the others. {@link #start} starts the threads
 * that a client always has, and {@link ClientShutdown} ends everything.
 *
 * <p><b>Threads.</b> Immutable: any thread may read the fields and call the methods, but {@code
 * start}, which is called once, before the client is given to a caller.
 */
final class ClientContext {
  /** The maximum interval of the subscriptions' heartbeat; otherwise that of a renewal. */
  private static final long MAX_HEARTBEAT_NANOS = 10_000_000_000L;

  /** How often the topology checks whether another server has replaced one. */
  private static final long FAILOVER_PERIOD_NANOS = 200_000_000L;

  /** The clock whose time other processes read. */
  private static final InstantSource WALL_CLOCK = InstantSource.system();

  final SourceContext sources;
  final Topology servers;
  final ClientRecord record;
  final HealthCheck health;

  /**
   * @param settings those of the options, with the ticker of the client
   * @param servers makes the servers of the client, whose tasks run on these workers
   * @param threads makes the threads of the client
   * @param waitPolicy decides how long callers wait
   */
  ClientContext(
      String clientId,
      LockOptions options,
      ConnectionSettings settings,
      ClosingState closing,
      Function<WorkerPool, Topology> servers,
      WorkerPool.NamedThreadFactory threads,
      ReleaseFairness fairness,
      WaitPolicy waitPolicy) {
    Ticker ticker = settings.ticker();
    WorkerPool workers = new WorkerPool(clientId.substring(0, 8), threads);
    this.servers = servers.apply(workers);
    ScriptExecutor commands = new ScriptExecutor(this.servers, workers, settings);
    BatchCollector batches = new BatchCollector(commands, workers, ticker);
    Scheduler scheduler = new Scheduler(ticker::read, batches::flush, workers.threads("scheduler"));
    BackgroundTasks tasks = new BackgroundTasks(workers, scheduler, closing, ticker);
    BooleanSupplier inUse = () -> scheduler.size() > 0;
    HoldRegistry holds = new HoldRegistry(scheduler, commands, tasks, closing, ticker);
    Completions completions = new Completions(tasks::run);
    HolderIds holderIds = new HolderIds(clientId, WALL_CLOCK);
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
            ClientContext::random,
            holds::connectionBroke);
    OperationCounter operations = new OperationCounter(ticker);
    this.record =
        new ClientRecord(
            clientId,
            WALL_CLOCK.instant(),
            commands,
            tasks,
            operations,
            closing,
            ticker,
            holderIds::made,
            inUse);
    ReleaseObserver observer =
        new ReleaseObserver(
            subscriptions::isHeard, fairness, new NotifiedWaiters(commands, tasks, ticker), ticker);
    LeaseContext leases =
        new LeaseContext(
            options,
            new ClockDrift(options.tuning().clockDrift()),
            ticker,
            ClientContext::random,
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
                commands, scheduler, tasks, closing, ticker, ClientContext::random, observer),
            observer,
            new FailedRenewals(ticker),
            events(clientId, options, workers, ticker));
    AcquireContext acquisitions =
        new AcquireContext(
            leases,
            new LocalQueues(ticker::read),
            new SharedHolds(ticker, closing, options.tuning()),
            new RunWaiters(),
            subscriptions,
            fairness,
            holderIds,
            new AtomicInteger());
    this.sources =
        new SourceContext(
            clientId,
            acquisitions,
            new LockInspector(clientId, commands, holds, record),
            waitPolicy,
            workers,
            task -> {
              var unused = workers.submitBlocking(task);
            });
    this.health =
        new HealthCheck(clientId, options, this.servers, commands, workers, ticker, WALL_CLOCK);
    SuspensionMonitor suspensions = new SuspensionMonitor(ticker, WALL_CLOCK, holds::clockJumped);
    scheduler.repeat(Completions.PERIOD_NANOS, completions::look);
    scheduler.repeat(ClientRecord.PERIOD_NANOS, record::look);
    scheduler.repeat(SuspensionMonitor.PERIOD_NANOS, suspensions::look);
    this.servers.onConnectionLost(holds::connectionBroke);
    this.servers.onChange(this::serverChanged);
    if (this.servers.canFailOver()) {
      scheduler.repeat(
          FAILOVER_PERIOD_NANOS, () -> this.servers.checkForFailover(inUse.getAsBoolean()));
    }
  }

  private static double random() {
    return ThreadLocalRandom.current().nextDouble();
  }

  private static EventContext events(
      String clientId, LockOptions options, WorkerPool workers, Ticker ticker) {
    EventQueue queue =
        options.listeners().isEmpty()
            ? null
            : new EventQueue(options.listeners(), ticker, workers.threads("events"));
    return new EventContext(
        clientId, ticker, WALL_CLOCK, LockExceptions::from, new AtomicLong(), queue);
  }

  /** Starts the scheduler, and the thread of the events if there is a listener. */
  void start() {
    EventQueue events = leases().events().queue();
    if (events != null) {
      servers.onReachabilityChange(new ServerEvents(leases().events(), events));
      events.start();
    }
    leases().scheduler().start();
  }

  /**
   * Verifies the holds and wakes the waiters, because the new server may lack what the old one had.
   */
  private void serverChanged() {
    acquisitions().subscriptions().serverChanged();
    leases().holds().verifyAll();
  }

  /** Returns the services that the acquisitions of this client need. */
  AcquireContext acquisitions() {
    return sources.acquisitions();
  }

  /** Returns the services that the holds of this client need. */
  LeaseContext leases() {
    return acquisitions().lease();
  }
}
