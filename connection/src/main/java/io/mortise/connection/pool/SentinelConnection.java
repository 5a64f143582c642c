package io.mortise.connection.pool;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * One sentinel and the connection to it, which stays open from one query to the next.
 *
 * <p><b>Threads.</b> One thread at a time queries, which {@link SentinelMonitor} ensures; any
 * thread may disconnect, and so ends a query that is under way.
 */
public final class SentinelConnection {
  private static final String NO_SUCH_MASTER = "No such master";
  private static final String UNKNOWN_COMMAND = "ERR unknown command";
  private final HostAndPort address;
  private final JedisClientConfig config;
  private volatile @Nullable Jedis connection;

  /**
   * The answer of a sentinel.
   *
   * @param epoch the number of the configuration, which each failover raises
   */
  record MasterReport(HostAndPort master, long epoch) {
    /** Returns whether there was a failover since the former report; two may have undone it. */
    boolean isAfterFailover(MasterReport former) {
      return !master.equals(former.master) || epoch > former.epoch;
    }
  }

  /** Thrown when the sentinel watches no master of that name, or the server is no sentinel. */
  static final class UnknownMaster extends JedisException {
    private static final long serialVersionUID = 1L;

    /**
     * @param message the fact and the remedy, about all the sentinels, which say the same
     */
    UnknownMaster(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /**
   * @param config has time-outs: nothing else ends a query
   */
  public SentinelConnection(HostAndPort address, JedisClientConfig config) {
    this.address = address;
    this.config = config;
  }

  /** Queries the master of that name, over a new connection if the last query failed. */
  MasterReport queryMaster(String masterName) {
    boolean answered = false;
    try {
      Jedis jedis = connection;
      if (jedis == null) {
        jedis = new Jedis(address, config);
        connection = jedis;
      }
      // The epoch comes first: a failover in between must not lend its epoch to the former master.
      Map<String, String> details = jedis.sentinelMaster(masterName);
      List<String> master = jedis.sentinelGetMasterAddrByName(masterName);
      if (master == null) {
        throw unknown(null);
      }
      answered = true;
      return new MasterReport(
          new HostAndPort(master.get(0), Integer.parseInt(master.get(1))),
          Long.parseLong(details.getOrDefault("config-epoch", "0")));
    } catch (JedisDataException refusal) {
      String message = String.valueOf(refusal.getMessage());
      throw message.contains(NO_SUCH_MASTER)
          ? unknown(refusal)
          : message.startsWith(UNKNOWN_COMMAND) ? noSentinel(refusal) : refusal;
    } finally {
      if (!answered) {
        disconnect();
      }
    }
  }

  private static UnknownMaster unknown(@Nullable Throwable cause) {
    return new UnknownMaster(
        "these sentinels watch no master of that name; check the part behind the '#'", cause);
  }

  private static UnknownMaster noSentinel(Throwable cause) {
    return new UnknownMaster(
        "these servers are no sentinels; name the sentinels, by default at port 26379, or use"
            + " redis:// for a server",
        cause);
  }

  void disconnect() {
    Jedis last = connection;
    connection = null;
    if (last != null) {
      RedisConnection.disconnect(last.getConnection());
    }
  }

  @Override
  public String toString() {
    return address.toString();
  }
}
