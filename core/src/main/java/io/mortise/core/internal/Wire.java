package io.mortise.core.internal;

import java.io.IOException;
import java.net.Socket;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisSocketFactory;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.JedisSocketFactory;

/**
 * A connection on which a command can be sent ahead, and which can tell whether its answer has
 * begun to arrive. Not over TLS: there only reading tells.
 */
final class Wire extends Connection {
  private final Sockets sockets;

  private Wire(Sockets sockets, JedisClientConfig config) {
    super(sockets, config);
    this.sockets = sockets;
  }

  static Wire connect(HostAndPort server, JedisClientConfig config) {
    return new Wire(new Sockets(new DefaultJedisSocketFactory(server, config)), config);
  }

  /** Sends a command and does not read the answer. */
  void send(CommandArguments command) {
    sendCommand(command);
    flush();
  }

  /** Whether it can tell. */
  boolean canTell() {
    Socket socket = sockets.last;
    return socket != null && !(socket instanceof SSLSocket) && isConnected() && !isBroken();
  }

  /**
   * Whether something can be read. An end of the stream cannot be told from silence, and counts as
   * that.
   */
  boolean hasArrived() {
    Socket socket = sockets.last;
    try {
      return socket != null && socket.getInputStream().available() > 0;
    } catch (IOException closed) {
      return false;
    }
  }

  /** Remembers the socket that Jedis keeps to itself. */
  private static final class Sockets implements JedisSocketFactory {
    private final JedisSocketFactory factory;
    private @Nullable Socket last;

    Sockets(JedisSocketFactory factory) {
      this.factory = factory;
    }

    @Override
    public Socket createSocket() {
      Socket socket = factory.createSocket();
      last = socket;
      return socket;
    }
  }
}
