package io.mortise.core.internal;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.Socket;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisSocketFactory;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.JedisSocketFactory;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisAccessControlException;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * A connection of the client's own. It knows which server it leads to; a command can be sent ahead
 * on it, and it can tell whether the answer has begun to arrive. Not over TLS: there only reading
 * tells.
 */
final class Wire extends Connection {
  private static final Pattern RUN_ID = Pattern.compile("(?m)^run_id:(\\S+)");

  private final Sockets sockets;
  private @Nullable String life;

  /** While it was asked and the answer was not read. */
  private @Nullable Runnable refused;

  private Wire(Sockets sockets, JedisClientConfig config) {
    super(sockets, config);
    this.sockets = sockets;
  }

  static Wire connect(HostAndPort server, JedisClientConfig config) {
    return new Wire(new Sockets(new DefaultJedisSocketFactory(server, config)), config);
  }

  /**
   * Asks the server for the id that it has given itself at its start, along with the first command:
   * that takes no round trip of its own.
   *
   * @param refusal what to do when the server does not let this user ask
   */
  void askForLife(Runnable refusal) {
    sendCommand(new CommandArguments(Command.INFO).add("server"));
    refused = refusal;
  }

  @Override
  protected Object readProtocolWithCheckingBroken() {
    Runnable refusal = refused;
    if (refusal != null) {
      refused = null;
      hear(refusal);
    }
    return super.readProtocolWithCheckingBroken();
  }

  private void hear(Runnable refusal) {
    try {
      Object info = super.readProtocolWithCheckingBroken();
      Matcher line = RUN_ID.matcher(info instanceof byte[] text ? new String(text, UTF_8) : "");
      life = line.find() ? line.group(1) : null;
    } catch (JedisAccessControlException e) {
      refusal.run();
    } catch (JedisDataException notNow) {
      Engine.LOG.debug("{} does not say which server it is", this, notNow);
    }
  }

  /**
   * Which life of which server it leads to: another answer means another server, or the same after
   * a restart. Null before the first answer, and when the server does not tell.
   */
  @Nullable String life() {
    return life;
  }

  /** Sends a command and does not read the answer. */
  void send(CommandArguments command) {
    sendCommand(command);
    push();
  }

  /** Sends what has been written. */
  void push() {
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
