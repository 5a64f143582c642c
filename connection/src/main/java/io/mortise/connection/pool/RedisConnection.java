package io.mortise.connection.pool;

import io.mortise.connection.concurrent.Deadline;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisAccessControlException;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * A connection that the client made itself. It knows the run id of its server.
 *
 * <p><b>Threads.</b> One thread at a time uses it: the thread that borrowed it.
 */
public final class RedisConnection extends Connection {
  private static final Logger LOG = LoggerFactory.getLogger(RedisConnection.class);

  private final DeadlineSocketFactory socketFactory;
  private @Nullable String serverRunId;

  /** The readers of the answers that come before the answer of the next command. */
  private final Deque<Consumer<Object>> infoReaders = new ArrayDeque<>(2);

  private RedisConnection(DeadlineSocketFactory socketFactory, JedisClientConfig config) {
    super(Connection.builder().socketFactory(socketFactory).clientConfig(config));
    this.socketFactory = socketFactory;
  }

  /** Connects and sends the greeting of the client, all before the deadline. */
  static RedisConnection connect(
      HostAndPort server,
      HostAddresses addresses,
      JedisClientConfig config,
      Deadline deadline,
      Random random) {
    DeadlineSocketFactory socketFactory =
        new DeadlineSocketFactory(server, addresses, config, deadline, random);
    JedisClientConfig bounded =
        DefaultJedisClientConfig.builder()
            .from(config)
            .socketTimeoutMillis(deadline.leftMillis())
            .build();
    RedisConnection connection = new RedisConnection(socketFactory, bounded);
    try {
      connection.initializeFromClientConfig(bounded);
      return connection;
    } catch (Throwable e) {
      socketFactory.close();
      throw e;
    }
  }

  /** Closes the socket below TLS first, which never blocks. */
  @Override
  public void forceDisconnect() throws IOException {
    socketFactory.close();
    super.forceDisconnect();
  }

  /** Closes the socket of a connection, whichever thread uses it; a failure has no consequence. */
  public static void disconnect(Connection connection) {
    try {
      connection.forceDisconnect();
    } catch (IOException e) {
      LOG.debug("{} could not be closed", connection, e);
    }
  }

  /** Returns the run id of a connection's server; null if the client did not make it. */
  public static @Nullable String serverRunIdOf(Connection connection) {
    return connection instanceof RedisConnection own ? own.serverRunId() : null;
  }

  /**
   * Asks the server for its run id, and for its eviction policy while that is not known. The
   * questions are sent with the first command, so they cost no round trip.
   *
   * @param refusal what to do when the server does not let this user ask
   */
  void requestServerInfo(Runnable refusal, EvictionPolicyCheck eviction) {
    if (!eviction.isKnown()) {
      sendInfo("memory", eviction::read, eviction::cannotKnow);
    }
    sendInfo("server", info -> serverRunId = info.runId().orElse(null), refusal);
  }

  private void sendInfo(String section, Consumer<ServerInfo> reader, Runnable refusal) {
    sendCommand(new CommandArguments(Command.INFO).add(section));
    infoReaders.add(
        answer -> {
          if (answer instanceof JedisAccessControlException) {
            refusal.run();
          } else if (answer instanceof byte[]) {
            reader.accept(ServerInfo.of(answer));
          } else {
            LOG.debug("{} did not answer INFO as expected: {}", this, answer);
          }
        });
  }

  @Override
  protected Object readProtocolWithCheckingBroken() {
    for (Consumer<Object> next = infoReaders.poll(); next != null; next = infoReaders.poll()) {
      next.accept(answerOrRefusal());
    }
    return super.readProtocolWithCheckingBroken();
  }

  private Object answerOrRefusal() {
    try {
      return super.readProtocolWithCheckingBroken();
    } catch (JedisDataException refusal) {
      return refusal;
    }
  }

  /** Returns the {@linkplain ServerInfo#runId run id} of the server; null when it is not known. */
  @Nullable String serverRunId() {
    return serverRunId;
  }
}
