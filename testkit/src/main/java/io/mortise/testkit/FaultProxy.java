package io.mortise.testkit;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A TCP proxy in front of a server that makes the faults of a network: it delays, cuts or silences
 * connections, and loses single replies. Without faults it passes all bytes on; pub/sub too.
 *
 * <pre>{@code
 * try (FaultProxy proxy = FaultProxy.to(server);
 *     LockClient client = LockClient.create(proxy.uri())) {
 *   proxy.loseNextReply(LossStyle.CLOSE, FaultProxy.containing("EVALSHA"));
 *   ...
 * }
 * }</pre>
 *
 * <p>Faults add up until {@link #restore()}.
 *
 * <p><b>Threads.</b> Any thread may call all methods; a fault applies to every byte that is read
 * afterwards. Two daemon threads serve a connection.
 */
public final class FaultProxy implements AutoCloseable {
  /*
   * Three classes make a proxy and name each other. This one has the API, accepts connections and
   * lists them. ProxyConnection passes the bytes of one connection on. ProxyFaults decides for each
   * chunk of bytes whether it is passed on, delayed or dropped.
   */

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

  /** The fate of a connection on which a reply has been lost. */
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
  private final DaemonThreads threads = new DaemonThreads();
  private final AtomicLong accepted = new AtomicLong();
  private final ProxyFaults faults = new ProxyFaults();

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
    Objects.requireNonNull(server, "server");
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
    Objects.requireNonNull(each, "each");
    delay(Direction.TO_SERVER, each);
    delay(Direction.TO_CLIENT, each);
  }

  /**
   * Delays one direction. A piece of bytes waits for that long and what arrives meanwhile follows
   * in the next piece, so that on a busy connection the delay is up to twice as long.
   */
  public void delay(Direction direction, Duration delay) {
    Objects.requireNonNull(direction, "direction");
    Objects.requireNonNull(delay, "delay");
    if (delay.isNegative()) {
      throw new IllegalArgumentException("delay must not be negative: " + delay);
    }
    faults.delay(direction, delay.toNanos());
  }

  /**
   * Closes all connections, and each new one as soon as it has been made, as if the server were
   * gone.
   */
  public void cut() {
    faults.cut();
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
  public void blackhole(Direction direction) {
    faults.blackhole(Objects.requireNonNull(direction, "direction"));
  }

  /**
   * The connections of this moment become half-open: they stay up, and nothing passes in either
   * direction any more, as behind a firewall that has forgotten them. New ones work.
   */
  public void forgetConnections() {
    faults.forget(connections);
  }

  /**
   * Accepts new connections and passes nothing on, in neither direction, until {@link #restore()}.
   * Those that exist are not touched.
   */
  public void holdNewConnections() {
    faults.holdNew();
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
    faults.loseReplies(count, style, request);
  }

  /** Ends all faults. Connections that have lost bytes are closed, and all others work. */
  public void restore() {
    faults.restore(() -> connections.forEach(ProxyConnection::restore));
  }

  /** How many connections exist now. */
  public int connections() {
    return connections.size();
  }

  /** How many connections clients have made, those that were refused included. */
  public long connectionsAccepted() {
    return accepted.get();
  }

  /** How many replies have been lost by {@link #loseReplies}. */
  public long repliesLost() {
    return faults.repliesLost();
  }

  /** How many bytes have been passed on in this direction. */
  public long bytes(Direction direction) {
    return faults.bytes(Objects.requireNonNull(direction, "direction"));
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
    threads.join(JOIN_TIMEOUT);
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
        accepted.incrementAndGet();
        // Only now, so that a cut or a close in between misses no connection.
        if (faults.isCut() || listener.isClosed()) {
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

  Socket connect() throws IOException {
    Socket socket = new Socket();
    socket.setTcpNoDelay(true);
    InetAddress address = InetAddress.getAllByName(host)[0];
    socket.connect(
        new InetSocketAddress(address, targetPort), Math.toIntExact(CONNECT_TIMEOUT.toMillis()));
    return socket;
  }

  void spawn(String name, Runnable task) {
    threads.start(this + " " + name, task);
  }

  ProxyFaults faults() {
    return faults;
  }

  void closed(ProxyConnection connection) {
    connections.remove(connection);
    faults.connectionClosed();
  }
}
