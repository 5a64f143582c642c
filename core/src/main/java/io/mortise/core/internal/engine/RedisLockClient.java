package io.mortise.core.internal.engine;

import com.google.common.base.Ticker;
import io.mortise.connection.command.CachedRunId;
import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.concurrent.ClosingState;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.ConnectionSettings;
import io.mortise.connection.pool.ConnectionSettings.Durability;
import io.mortise.connection.pool.ConnectionSettings.Security;
import io.mortise.connection.pool.ConnectionSettings.Tls;
import io.mortise.connection.topology.Topology;
import io.mortise.connection.topology.TopologyFactory;
import io.mortise.core.Acknowledgement;
import io.mortise.core.ConnectionSecurity;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.ServerHealth;
import io.mortise.core.internal.acquire.AcquireContext;
import io.mortise.core.internal.event.EventQueue;
import io.mortise.core.internal.inspect.LockSearch;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.LockExceptions;
import io.mortise.core.internal.lease.RegisteredHold;
import io.mortise.core.internal.lease.ReleaseFairness;
import io.mortise.core.spi.RedisDeployment;
import io.mortise.core.spi.WaitPolicy;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.function.Function;
import javax.net.ssl.SSLContext;
import redis.clients.jedis.UnifiedJedis;

/**
 * The lock client. Its {@link ClientContext} has the services that all its locks share.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 */
public final class RedisLockClient implements LockClient, RedisDeployment {
  private static final int VERSION_INDEX = 14;

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

  private final String id = clientId();
  private final ClosingState closing = new ClosingState();
  private final CachedRunId serverId = new CachedRunId();
  private final ClientContext context;

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
    this.context =
        new ClientContext(
            id,
            options,
            settings(options, ConnectionSecurity.NONE),
            closing,
            servers,
            threads,
            fairness,
            waitPolicy);
    try {
      context.start();
    } catch (Throwable e) { // as when no thread can be started: nobody gets the client
      close();
      throw e;
    }
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
    return context.acquisitions();
  }

  /** Returns the services that the locks of this client need. */
  SourceContext sources() {
    return context.sources;
  }

  private LeaseContext leases() {
    return context.leases();
  }

  private ScriptExecutor commands() {
    return leases().commands();
  }

  @Override
  public String id() {
    return id;
  }

  @Override
  public LockOptions options() {
    return leases().options();
  }

  @Override
  public boolean isClosed() {
    return closing.isClosed();
  }

  /** Returns the search for locks, for tools. */
  public LockSearch search() {
    return new LockSearch(
        context.servers, context.sources.inspector(), commands().timeoutNanos(), leases().ticker());
  }

  @Override
  public ServerHealth ping() {
    if (closing.isClosed()) {
      throw new LockException(
          LockException.Reason.CLIENT_CLOSED, "client " + id + " was closed", null);
    }
    return context.health.run();
  }

  @Override
  public Status status() {
    EventQueue events = leases().events().queue();
    return new ClientStatus(
        (int) leases().holds().all().stream().filter(RegisteredHold::isValid).count(),
        context().queues().size(),
        context().waiters(),
        context().subscriptions().channels(),
        leases().releases().size(),
        leases().scheduler().size(),
        context.servers.connectionsInUse(),
        context.servers.unreachableServers(),
        events == null ? 0 : events.dropped());
  }

  /** Closes the client: see {@link ClientShutdown}. */
  @Override
  public void close() {
    if (closing.begin()) {
      new ClientShutdown(context).run();
    }
  }

  // ---- the server, for locks over several servers

  @Override
  public String address() {
    return context.servers.toString();
  }

  @Override
  public Optional<String> serverId(long withinNanos) {
    return context
        .servers
        .clusterId(Math.min(withinNanos, commands().timeoutNanos()))
        .or(() -> serverId.get(commands(), withinNanos));
  }

  @Override
  public String toString() {
    return "LockClient " + id + " of " + context.servers + (closing.isClosed() ? ", closed" : "");
  }
}
