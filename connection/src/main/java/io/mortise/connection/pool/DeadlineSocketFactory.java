package io.mortise.connection.pool;

import io.mortise.connection.concurrent.Deadline;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.JedisSocketFactory;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * Makes the one socket of a {@link RedisConnection}, with one deadline for all addresses of the
 * host and for the TLS handshake. The factory of Jedis gives each address the whole time-out, and
 * leaves the handshake to the first write, and to the next one after a time-out.
 *
 * <p><b>Threads.</b> The thread that connects makes the socket; later calls, by any thread, are
 * refused, because {@code socket} is volatile and set.
 */
final class DeadlineSocketFactory implements JedisSocketFactory {
  private static final Logger LOG = LoggerFactory.getLogger(DeadlineSocketFactory.class);

  private final HostAndPort server;
  private final HostAddresses addresses;
  private final JedisClientConfig config;
  private final Deadline deadline;
  private final Random random;

  /** The socket below TLS, or the only one. */
  private volatile @Nullable Socket socket;

  DeadlineSocketFactory(
      HostAndPort server,
      HostAddresses addresses,
      JedisClientConfig config,
      Deadline deadline,
      Random random) {
    this.server = server;
    this.addresses = addresses;
    this.config = config;
    this.deadline = deadline;
    this.random = random;
  }

  /**
   * Closes the socket, without a farewell of TLS: that is a write, which blocks while the server is
   * suspended and the buffers are full.
   */
  void close() {
    Socket created = socket;
    if (created != null) {
      closeQuietly(created);
    }
  }

  @Override
  public Socket createSocket() {
    if (socket != null) {
      // Jedis would write commands of the old socket to a new one, without a greeting.
      throw new JedisConnectionException("the connection was closed");
    }
    try {
      Socket connected = connectToAny();
      socket = connected;
      connected.setSoTimeout(deadline.leftMillis());
      boolean tls = config.isSsl() || config.getSslOptions() != null;
      return tls ? startTls(connected) : connected;
    } catch (IOException | GeneralSecurityException e) {
      throw new JedisConnectionException("connecting to " + server + " failed", e);
    }
  }

  /** Connects to the first address that answers, in random order. */
  private Socket connectToAny() throws IOException {
    List<InetAddress> candidates = new ArrayList<>(addresses.until(deadline));
    Collections.shuffle(candidates, random);
    IOException failure = null;
    int addressesLeft = candidates.size();
    for (InetAddress address : candidates) {
      if (failure != null && deadline.hasPassed()) {
        break;
      }
      try {
        return connect(new InetSocketAddress(address, server.getPort()), addressesLeft--);
      } catch (IOException e) {
        if (failure != null) {
          e.addSuppressed(failure);
        }
        failure = e;
      }
    }
    throw failure != null ? failure : new UnknownHostException(server.getHost());
  }

  /** Connects within an equal share of the time: a silent address leaves time for the next. */
  private Socket connect(InetSocketAddress address, int addressesLeft) throws IOException {
    Socket created = new ReadDeadlineSocket(deadline.ticker());
    try {
      created.setKeepAlive(true);
      created.setTcpNoDelay(true);
      created.setSoLinger(true, 0); // a close takes effect at once
      long shareNanos = Math.max(0, deadline.leftNanos()) / addressesLeft;
      created.connect(address, deadline.within(shareNanos).leftMillis());
      return created;
    } catch (Throwable e) {
      closeQuietly(created);
      throw e;
    }
  }

  private Socket startTls(Socket plain) throws IOException, GeneralSecurityException {
    boolean secured = false;
    try {
      SSLSocket created = tlsSocket(plain);
      SSLParameters parameters = created.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      created.setSSLParameters(parameters);
      created.startHandshake();
      secured = true;
      return created;
    } catch (SocketTimeoutException e) {
      throw new NoHandshakeException(e);
    } finally {
      if (!secured) {
        closeQuietly(plain);
      }
    }
  }

  @SuppressWarnings("deprecation") // what replaces these of Jedis takes files, and no context
  private SSLSocket tlsSocket(Socket plain) throws IOException, GeneralSecurityException {
    SslOptions ofTheJvm = config.getSslOptions();
    SSLSocketFactory sockets =
        ofTheJvm == null
            ? config.getSslSocketFactory()
            : ofTheJvm.createSslContext().getSocketFactory();
    SSLSocket created =
        (SSLSocket) sockets.createSocket(plain, server.getHost(), server.getPort(), true);
    if (config.getSslParameters() != null) {
      created.setSSLParameters(config.getSslParameters());
    }
    return created;
  }

  @Override
  public String toString() {
    return server.toString();
  }

  private static void closeQuietly(Socket created) {
    try {
      created.close();
    } catch (IOException e) {
      LOG.debug("a socket could not be closed", e);
    }
  }

  /** Thrown when the server accepted the connection, and did not answer the TLS handshake. */
  static final class NoHandshakeException extends IOException {
    private static final long serialVersionUID = 1L;

    NoHandshakeException(SocketTimeoutException cause) {
      super("no answer to the TLS handshake", cause);
    }
  }
}
