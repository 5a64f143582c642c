package io.mortise.testkit;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.testkit.memory.MemoryConnection;
import io.mortise.testkit.memory.MemoryServer;
import io.mortise.testkit.memory.MemoryServer.ScriptFault;
import java.net.Socket;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionFactory;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.providers.PooledConnectionProvider;

/**
 * A Redis inside the JVM for unit tests of code that uses locks, without a process and without a
 * socket. {@link #client()} returns a real client, whose locks run the real scripts.
 *
 * <pre>{@code
 * try (InMemoryRedis redis = InMemoryRedis.start()) {
 *   RedisLock lock = new RedisLock(redis.client(), "order:42");
 *   Lease lease = lock.tryAcquire().orElseThrow();
 *   redis.loseHold("order:42"); // the lease reports its loss now
 * }
 * }</pre>
 *
 * <p><b>Limits.</b> This server has the commands that Mortise's scripts and Jedis need, and the
 * common ones of a unit test; no cluster, no replicas, no persistence, RESP2 only. It is compared
 * with a real server in this project's tests. A lock client has a pool of 64 connections of Jedis,
 * whatever its options say, and reports no release in doubt. Redisson cannot use it.
 *
 * <p><b>Time.</b> The server's clock follows the system's, and {@link #advance} moves it: keys
 * expire by it. A client's own waits and deadlines follow {@link System#nanoTime()}; {@link
 * #timeOutNextWait} ends a wait without waiting.
 *
 * <p><b>Faults</b> wait for the next lock command of any client, a renewal or a heartbeat included.
 *
 * <p><b>Threads.</b> Any thread may call every method. Commands run on the thread that sends them.
 */
public final class InMemoryRedis implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(InMemoryRedis.class);

  /** The name of a lock that nobody holds. */
  private static final String PROBE = "mortise:in-memory-probe";

  private final AtomicLong aheadMicros = new AtomicLong();
  private final MemoryServer server;
  private final WaitTimeOuts timeOuts = new WaitTimeOuts();
  private final List<LockClient> lockClients = new CopyOnWriteArrayList<>();
  private final List<Lease> occupying = new CopyOnWriteArrayList<>(); // else not renewed
  private final OpenedClients opened = new OpenedClients();

  private InMemoryRedis(Clock clock) {
    server =
        new MemoryServer(
            () -> ChronoUnit.MICROS.between(Instant.EPOCH, clock.instant()) + aheadMicros.get());
  }

  /** Starts an empty server with the system's clock. */
  public static InMemoryRedis start() {
    return start(Clock.systemUTC());
  }

  /** Starts an empty server whose keys expire by that clock. */
  public static InMemoryRedis start(Clock clock) {
    return new InMemoryRedis(Objects.requireNonNull(clock, "clock"));
  }

  // ---- clients

  /** Returns a new lock client with the default options, which {@link #close} closes. */
  public LockClient client() {
    return client(LockOptions.defaults());
  }

  /** Returns a new lock client, which {@link #close} closes. */
  public LockClient client(LockOptions options) {
    Objects.requireNonNull(options, "options");
    LockClient client =
        opened.register(RedisLockClient.create(jedis(options.commandTimeout()), options, timeOuts));
    lockClients.add(client);
    return client;
  }

  /** Returns a new Jedis client, which {@link #close} closes. */
  public RedisClient jedis() {
    return jedis(Duration.ofMillis(Protocol.DEFAULT_TIMEOUT));
  }

  private RedisClient jedis(Duration timeout) {
    ConnectionFactory connections =
        new ConnectionFactory(
            () -> connect(timeout),
            DefaultJedisClientConfig.builder().protocol(RedisProtocol.RESP2).build());
    GenericObjectPoolConfig<Connection> pool = new GenericObjectPoolConfig<>();
    pool.setMaxTotal(64);
    pool.setMaxIdle(64);
    pool.setJmxEnabled(false);
    return opened.register(
        RedisClient.builder()
            .connectionProvider(new PooledConnectionProvider(connections, pool))
            .build());
  }

  private Socket connect(Duration timeout) {
    MemoryConnection connection = server.connect();
    connection.setSoTimeout((int) timeout.toMillis());
    return connection;
  }

  /**
   * Runs a command, beside all clients.
   *
   * @param words the name of the command, then its words
   * @return a {@code Long}, a {@code String}, a {@code List}, or null
   * @throws IllegalArgumentException if the reply is an error, with its text
   */
  public @Nullable Object command(String... words) {
    Objects.requireNonNull(words, "words");
    return decoded(server.runOrThrow(Stream.of(words).map(InMemoryRedis::bytes).toList()));
  }

  /** Returns the bytes of a text as the server keeps them: each as one character. */
  private static String bytes(String text) {
    return new String(text.getBytes(UTF_8), ISO_8859_1);
  }

  private static @Nullable Object decoded(@Nullable Object reply) {
    if (reply instanceof String bytes) {
      return new String(bytes.getBytes(ISO_8859_1), UTF_8);
    }
    return reply instanceof List<?> items
        ? items.stream().map(InMemoryRedis::decoded).toList()
        : reply;
  }

  // ---- time and faults

  /**
   * Moves the server's clock forward; keys whose time is over then do not exist any more. The
   * clocks of the clients are not moved: a client learns that a hold has ended when it next renews
   * or verifies it.
   *
   * @throws IllegalArgumentException if the duration is negative
   */
  public void advance(Duration by) {
    aheadMicros.addAndGet(Preconditions.notNegative("by", by).toNanos() / 1_000);
  }

  /**
   * Holds a lock as another process would, until the lease is closed: a wait for it times out, at
   * once with {@link #timeOutNextWait}.
   *
   * <pre>{@code
   * redis.occupy(client -> client.lock("order:42"));
   * redis.timeOutNextWait();
   * assertFalse(orders.place("42")); // whose tryLock(5, SECONDS) takes no time
   * }</pre>
   *
   * @param lock makes the lock, of any family, with a client of its own, which {@link #close}
   *     closes
   * @throws IllegalStateException if the lock is held
   */
  public Lease occupy(Function<LockClient, ? extends DistributedLock> lock) {
    DistributedLock others = Objects.requireNonNull(lock, "lock").apply(client());
    Optional<Lease> lease = others.tryAcquire();
    lease.ifPresent(occupying::add);
    return lease.orElseThrow(
        () -> new IllegalStateException("lock '" + others.name() + "' is held already"));
  }

  /**
   * Lets the next wait time out: the next acquisition with a wait, as {@code tryLock(5, SECONDS)},
   * that finds its lock busy returns false or empty after one attempt, however long it may wait.
   * Called twice it is for the next two, and so on.
   *
   * <p>It is for the clients of {@link #client()}, and for every family of locks; of a {@code
   * MultiLock} or {@code RedLock} one of the members has to be on this server. It stays until a
   * busy lock is met: a lock that is free, or is held by the thread itself, is granted as ever. No
   * clock is moved, and no lease ends.
   *
   * <p><b>Not affected</b> are a wait that has begun before, {@code lock()} and others that wait
   * without an end, and {@code tryLock()} without a wait. The wait does not join the queue of a
   * fair lock, and does not go on after a fault: if Redis does not answer, or refuses, it throws,
   * and the next one times out instead.
   */
  public void timeOutNextWait() {
    timeOuts.add();
  }

  /**
   * Takes the hold of a lock away, as an eviction would, and breaks the connections, so that every
   * client verifies its holds at once: the lease reports its loss within milliseconds.
   *
   * @param lockName the whole name, with the namespace of the client if it has one
   * @throws IllegalStateException if nobody holds a lock of that name
   */
  public void loseHold(String lockName) {
    if (!Objects.equals(1L, command("DEL", Objects.requireNonNull(lockName, "lockName")))) {
      throw new IllegalStateException("nobody holds a lock '" + lockName + "'");
    }
    breakConnections();
    notifyClients();
  }

  /** Lets each client see that its connections are broken: a pool finds out when it uses one. */
  private void notifyClients() {
    server.suspendFaults(true); // they are for the commands of the test
    try {
      for (LockClient client : lockClients) {
        try {
          new RedisLock(client, PROBE).isLocked();
        } catch (LockException e) {
          LOG.debug("a client that is closed, or cannot connect, verifies nothing", e);
        }
      }
    } finally {
      server.suspendFaults(false);
    }
  }

  /** Breaks all connections; the data stays. */
  public void breakConnections() {
    server.breakConnections();
  }

  /** Lets the next lock command run, and breaks its connection before the reply. */
  public void loseNextReply() {
    server.failNextScript(ScriptFault.LOSE_REPLY);
  }

  /** Breaks the connection of the next lock command before the command runs. */
  public void loseNextRequest() {
    server.failNextScript(ScriptFault.LOSE_REQUEST);
  }

  /**
   * Answers the next lock command by an error; nothing runs.
   *
   * @param error the error as Redis writes it, its code first: {@code "OOM command not allowed"}
   */
  public void failNext(String error) {
    server.failNextScript(Objects.requireNonNull(error, "error"));
  }

  /** Loses all data and breaks all connections, as a restart without persistence does. */
  public void restartEmpty() {
    server.restartEmpty();
    notifyClients();
  }

  /** Answers nothing until {@link #resume}: clients wait, and time out. */
  public void pause() {
    server.pause();
  }

  /** Answers what has come since {@link #pause}, and goes on. */
  public void resume() {
    server.resume();
  }

  /**
   * Closes the clients, the latest first, and the server. Idempotent.
   *
   * @throws IllegalStateException if a client could not be closed; the others are
   */
  @Override
  public void close() {
    try {
      opened.close();
    } finally {
      server.close();
    }
  }
}
