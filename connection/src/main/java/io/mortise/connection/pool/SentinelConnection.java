package io.mortise.connection.pool;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * One sentinel and the connection to it, which stays open from one question to the next.
 *
 * <p><b>Threads.</b> One thread at a time asks, which {@link SentinelMonitor} sees to; any thread
 * may disconnect, and so ends a question that is under way.
 */
public final class SentinelConnection {
  private static final Logger LOG = LoggerFactory.getLogger(SentinelConnection.class);
  private static final String NO_SUCH_MASTER = "No such master";

  private final HostAndPort address;
  private final JedisClientConfig config;
  private volatile @Nullable Jedis connection;

  /**
   * What a sentinel says.
   *
   * @param epoch the number of the configuration, which each failover raises
   */
  record Word(HostAndPort master, long epoch) {}

  /** A sentinel that answers, and watches no master of that name. */
  static final class UnknownMaster extends JedisException {
    private static final long serialVersionUID = 1L;

    UnknownMaster(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /**
   * @param config with time-outs: nothing else ends a question
   */
  public SentinelConnection(HostAndPort address, JedisClientConfig config) {
    this.address = address;
    this.config = config;
  }

  /**
   * Asks for the master of that name, over a new connection if the last question failed.
   *
   * @throws UnknownMaster if the sentinel knows no such master
   * @throws JedisException if there is no answer
   */
  Word ask(String masterName) {
    boolean answered = false;
    try {
      Jedis to = connection;
      if (to == null) {
        to = new Jedis(address, config);
        connection = to;
      }
      // The epoch first: a failover in between must not lend its epoch to the former master.
      Map<String, String> said = to.sentinelMaster(masterName);
      List<String> master = to.sentinelGetMasterAddrByName(masterName);
      if (master == null) {
        throw unknown(masterName, null);
      }
      answered = true;
      return new Word(
          new HostAndPort(master.get(0), Integer.parseInt(master.get(1))),
          Long.parseLong(said.getOrDefault("config-epoch", "0")));
    } catch (JedisDataException refusal) {
      throw String.valueOf(refusal.getMessage()).contains(NO_SUCH_MASTER)
          ? unknown(masterName, refusal)
          : refusal;
    } finally {
      if (!answered) {
        disconnect();
      }
    }
  }

  private static UnknownMaster unknown(String masterName, @Nullable Throwable cause) {
    return new UnknownMaster("it watches no master '" + masterName + "'", cause);
  }

  void disconnect() {
    Jedis last = connection;
    connection = null;
    if (last != null) {
      try {
        last.getConnection().forceDisconnect();
      } catch (IOException e) {
        LOG.debug("the connection to the sentinel {} could not be closed", address, e);
      }
    }
  }

  @Override
  public String toString() {
    return address.toString();
  }
}
