package io.mortise.testkit;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A TCP proxy in front of a server that does to the connections what networks do: it delays, cuts,
 * swallows, and loses single replies. Without faults it passes everything on; pub/sub too.
 *
 * <pre>{@code
 * try (FaultProxy proxy = FaultProxy.to(server);
 *     LockClient client = LockClient.create(proxy.uri())) {
 *   proxy.loseNextReply(LossStyle.CLOSE, FaultProxy.containing("EVALSHA"));
 *   ...
 * }
 * }</pre>
 *
 * <p>Faults add up until {@link #restore()}. All methods may be called by any thread, and what they
 * set holds for every byte that is read afterwards. Two daemon threads serve a connection.
 */
public final class FaultProxy implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(FaultProxy.class);
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration JOIN_TIMEOUT = Duration.ofSeconds(5);

  /** A direction of bytes. */
  public enum Direction {
    /** Requests. */
    TO_SERVER,
    /** Replies and published messages. */
    TO_CLIENT
  }

  /** What becomes of a connection on which a reply has been lost. */
  public enum LossStyle {
    /** It stays up and nothing comes to the client any more: the client runs into its timeout. */
    SILENT,
    /** It is closed instead of the reply. */
    CLOSE
  }

  private final String host;
  private final int targetPort;
  private final @Nullable RedisServer server;
  private final ServerSocket listener;
  private final Set<ProxyConnection> connections = ConcurrentHashMap.newKeySet();
  private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

  /** Guards the faults and counters below, and each decision about a piece of bytes. */
  private final ReentrantLock lock = new ReentrantLock();

  private final Condition changed = lock.newCondition();
  private final Map<Direction, Long> delayNanos = new EnumMap<>(Direction.class);
  private final Set<Direction> swallowed = EnumSet.noneOf(Direction.class);
  private final Map<Direction, Long> bytes = new EnumMap<>(Direction.class);
  private boolean cut;
  private boolean holdNew;
  private int repliesToLose;
  private LossStyle lossStyle = LossStyle.CLOSE;
  private Predicate<byte[]> losable = request -> true;
  private long repliesLost;
  private long accepted;

  private FaultProxy(String host, int targetPort, @Nullable RedisServer server) {
    this.host = Objects.requireNonNull(host, "host");
    this.targetPort = targetPort;
    this.server = server;
    if (targetPort < 1 || targetPort > 65_535) {
      throw new IllegalArgumentException("port must be from 1 to 65535, not " + targetPort);
    }
    try {
      listener = new ServerSocket();
      listener.bind(new InetSocketAddress(Ports.loopback(), 0));
    } catch (IOException e) {
      throw new UncheckedIOException("no free port for a proxy", e);
    }
    spawn("accept", this::accept);
  }

  /** A proxy in front of this server. The server may be restarted behind it. */
  public static FaultProxy to(RedisServer server) {
    return new FaultProxy(server.host(), server.port(), server);
  }

  /** A proxy in front of whatever listens there, now or later. */
  public static FaultProxy to(String host, int port) {
    return new FaultProxy(host, port, null);
  }

  /** Matches requests that contain this ASCII text, for example the name of a command. */
  public static Predicate<byte[]> containing(String text) {
    Objects.requireNonNull(text, "text");
    return request -> new String(request, ISO_8859_1).contains(text);
  }

  /** 127.0.0.1. */
  public String host() {
    return "127.0.0.1";
  }

  /** The port of the proxy. */
  public int port() {
    return listener.getLocalPort();
  }

  /**
   * The URI by which a client comes through the proxy, with the server's password if it has one.
   */
  public String uri() {
    return server == null ? "redis://" + host() + ":" + port() : server.uri(port());
  }

  /** Delays both directions, each by this much: a round trip takes twice as long. */
  public void delay(Duration each) {
    delay(Direction.TO_SERVER, each);
    delay(Direction.TO_CLIENT, each);
  }

  /**
   * Delays one direction. A piece of bytes waits for that long and what arrives meanwhile follows
   * in the next piece, so that on a busy connection the delay is up to twice as long.
   */
  public void delay(Direction direction, Duration delay) {
    if (delay.isNegative()) {
      throw new IllegalArgumentException("delay must not be negative: " + delay);
    }
    change(() -> delayNanos.put(direction, delay.toNanos()));
  }

  /**
   * Closes all connections, and each new one as soon as it has been made, as if the server were
   * gone.
   */
  public void cut() {
    change(() -> cut = true);
    closeConnections();
  }

  /** Closes the connections of this moment; new ones work. */
  public void closeConnections() {
    connections.forEach(ProxyConnection::close);
  }

  /**
   * Reads the bytes of one direction and drops them; connections stay up. No real network loses
   * bytes from the middle of a connection, so {@link #restore()} closes those that have lost some.
   */
  public void swallow(Direction direction) {
    change(() -> swallowed.add(direction));
  }

  /**
   * Accepts new connections and passes nothing on, in neither direction, until {@link #restore()}.
   * Those that exist are not touched.
   */
  public void holdNewConnections() {
    change(() -> holdNew = true);
  }

  /** Loses the reply to the next request, whatever it is: it may be that of a handshake. */
  public void loseNextReply(LossStyle style) {
    loseReplies(1, style, request -> true);
  }

  /** Loses the reply to the next request that matches. */
  public void loseNextReply(LossStyle style, Predicate<byte[]> request) {
    loseReplies(1, style, request);
  }

  /**
   * Loses the replies to the next {@code count} requests that match: each request reaches the
   * server, and nothing comes back. One connection loses one reply, because nothing comes after it.
   *
   * <p>This is for connections with one request at a time, as Jedis uses them: a request is what
   * the client writes at once, up to 64 KiB, and on a connection with several requests under way
   * the replies to the earlier ones may be lost too. Replaces what an earlier call has left.
   *
   * @param request sees the request in the Redis protocol; see {@link #containing}
   */
  public void loseReplies(int count, LossStyle style, Predicate<byte[]> request) {
    Objects.requireNonNull(style, "style");
    Objects.requireNonNull(request, "request");
    if (count < 1) {
      throw new IllegalArgumentException("count must be at least 1, not " + count);
    }
    change(
        () -> {
          repliesToLose = count;
          lossStyle = style;
          losable = request;
        });
  }

  /** Ends all faults. Connections that have lost bytes are closed. */
  public void restore() {
    change(
        () -> {
          delayNanos.clear();
          swallowed.clear();
          cut = false;
          holdNew = false;
          repliesToLose = 0;
          connections.stream().filter(c -> c.lostBytes).forEach(ProxyConnection::close);
        });
  }

  /** How many connections exist now. */
  public int connections() {
    return connections.size();
  }

  /** How many connections clients have made, those that were refused included. */
  public long connectionsAccepted() {
    return read(() -> accepted);
  }

  /** How many replies have been lost by {@link #loseReplies}. */
  public long repliesLost() {
    return read(() -> repliesLost);
  }

  /** How many bytes have been passed on in this direction. */
  public long bytes(Direction direction) {
    return read(() -> bytes.getOrDefault(direction, 0L));
  }

  /** Closes everything; returns when the threads have ended. */
  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException e) {
      log.debug("{}: the listener did not close in order", this, e);
    }
    closeConnections();
    long deadline = System.nanoTime() + JOIN_TIMEOUT.toNanos();
    boolean interrupted = false;
    for (Thread thread : threads) {
      while (thread.isAlive() && System.nanoTime() < deadline) {
        try {
          thread.join(Math.max(1, (deadline - System.nanoTime()) / 1_000_000));
        } catch (InterruptedException e) {
          interrupted = true; // kept: the threads end anyway
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public String toString() {
    return "proxy %d to %s:%d".formatted(port(), host, targetPort);
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        ProxyConnection connection = new ProxyConnection(this, client);
        connections.add(connection);
        change(() -> accepted++);
        // Only now, so that a cut or a close in between misses no connection.
        if (read(() -> cut) || listener.isClosed()) {
          connection.reset();
        } else {
          spawn("connect", connection::serve);
        }
      } catch (IOException e) {
        if (!listener.isClosed()) {
          log.warn("{}: a connection could not be accepted", this, e);
        }
      }
    }
  }

  // ---- for the connections -------------------------------------------------------------------

  Socket connect() throws IOException {
    Socket socket = new Socket();
    socket.setTcpNoDelay(true);
    InetAddress address = InetAddress.getAllByName(host)[0];
    socket.connect(
        new InetSocketAddress(address, targetPort), Math.toIntExact(CONNECT_TIMEOUT.toMillis()));
    return socket;
  }

  void spawn(String name, Runnable task) {
    Thread thread =
        new Thread(
            () -> {
              try {
                task.run();
              } finally {
                threads.remove(Thread.currentThread());
              }
            },
            this + " " + name);
    thread.setDaemon(true);
    threads.add(thread);
    thread.start();
  }

  /** Waits until a new connection may be served, or is closed. */
  void awaitService(BooleanSupplier closed) {
    await(() -> holdNew ? Long.MAX_VALUE : 0, closed);
  }

  /** Waits for as long as a piece of bytes is to be delayed, or until its connection is closed. */
  void awaitDelay(Direction direction, BooleanSupplier closed) {
    long start = System.nanoTime();
    await(() -> delayNanos.getOrDefault(direction, 0L) - (System.nanoTime() - start), closed);
  }

  private void await(LongSupplier nanosLeft, BooleanSupplier closed) {
    lock.lock();
    try {
      for (long left = nanosLeft.getAsLong();
          left > 0 && !closed.getAsBoolean();
          left = nanosLeft.getAsLong()) {
        changed.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts the threads of a proxy", e);
    } finally {
      lock.unlock();
    }
  }

  /** Decides about a piece of bytes, and notes the decision with the connection. */
  boolean passes(ProxyConnection connection, Direction direction, byte[] piece) {
    lock.lock();
    try {
      boolean silenced = direction == Direction.TO_CLIENT && connection.losing != null;
      if (silenced && !connection.lostReply) {
        connection.lostReply = true;
        repliesLost++;
      }
      if (silenced || swallowed.contains(direction)) {
        connection.lostBytes = true;
        return false;
      }
      if (direction == Direction.TO_SERVER
          && connection.losing == null
          && repliesToLose > 0
          && losable.test(piece)) {
        repliesToLose--;
        connection.losing = lossStyle;
      }
      bytes.merge(direction, (long) piece.length, Long::sum);
      return true;
    } finally {
      lock.unlock();
    }
  }

  void closed(ProxyConnection connection) {
    connections.remove(connection);
    change(() -> {}); // whoever waits on its behalf looks again
  }

  private void change(Runnable change) {
    lock.lock();
    try {
      change.run();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private <T> T read(Supplier<T> value) {
    lock.lock();
    try {
      return value.get();
    } finally {
      lock.unlock();
    }
  }
}
