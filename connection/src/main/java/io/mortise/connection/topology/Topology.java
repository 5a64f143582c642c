package io.mortise.connection.topology;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.Exchange;
import io.mortise.connection.pool.Reply;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;

/**
 * The servers of one client, and which of them has which key: one server (which sentinels may
 * replace by another), or a cluster.
 *
 * <p>Keys are distinguished by their hash slot. A single server has the slot 0 for all keys, so
 * that all commands that are grouped by slot go together there.
 *
 * <p><b>Threads.</b> Any thread may call every method, except that {@code checkForFailover} is for
 * the scheduler's thread alone, and actions are set before the first use.
 */
public interface Topology extends AutoCloseable {
  /** The command without a cluster, or with a cluster whose channels have no slots. */
  byte[] PUBLISH = "PUBLISH".getBytes(US_ASCII);

  /** The command with a cluster whose channels have slots. */
  byte[] SPUBLISH = "SPUBLISH".getBytes(US_ASCII);

  /** Returns the slot of a key. One command may contain several keys of one slot. */
  int slotOf(byte[] key);

  /**
   * Returns what identifies the server of the slot, as far as it is known without a query: commands
   * for slots with equal results can share a round trip.
   */
  Object serverOf(int slot);

  /**
   * Runs one exchange at the server that has the slot; see {@link RedisNode#exchange}. Follows the
   * slot when it has moved, until the same deadline.
   */
  Reply exchange(int slot, Exchange exchange, Deadline deadline) throws CommandException;

  /**
   * Runs an exchange that must not run twice, otherwise like {@link #exchange}; see {@link
   * RedisNode#exchangeAtMostOnce}. A server that answers with a redirection has not run it.
   */
  Reply exchangeAtMostOnce(int slot, Exchange exchange, Deadline deadline) throws CommandException;

  /**
   * Returns whether the answer to a part of an exchange is a redirection to another server, now or
   * soon. That part has not run then, and has to be sent again.
   */
  boolean isRedirect(Object answer);

  /** Returns the command with which scripts publish; known after the first exchange. */
  default byte[] publishCommand() {
    return isSharded() ? SPUBLISH : PUBLISH;
  }

  /** Returns where the messages of a channel arrive; null while that is not known. */
  @Nullable SubscriptionEndpoint endpointFor(String channel);

  /**
   * Returns whether channels have slots like keys, so that they move with their slots. After a
   * change the action of {@link #onChange} is called.
   */
  boolean isSharded();

  /**
   * Fetches which server has which slot, within a short time; calls the action of {@link #onChange}
   * after a change. Does nothing where the servers cannot change.
   */
  void refresh();

  /**
   * Checks whether another server has replaced one. The scheduler's thread calls it regularly; it
   * does not block.
   *
   * @param inUse whether the client holds or waits for a lock
   */
  void checkForFailover(boolean inUse);

  /** Returns whether a failover can happen, so that {@link #checkForFailover} is of use. */
  boolean canFailOver();

  /** Sets the action for a broken connection; called before the first use. */
  void onConnectionLost(Runnable action);

  /** Sets the action for keys or channels that have moved; called before the first use. */
  void onChange(Runnable action);

  /** Sets the observer of the servers' reachability; called before the first use. */
  void onReachabilityChange(ReachabilityObserver observer);

  /**
   * Returns an id that is the same for all clients of a cluster, whichever nodes they use; empty
   * without a cluster.
   *
   * @param withinNanos how long to ask the nodes when it is not known yet; 0 asks nobody
   */
  Optional<String> clusterId(long withinNanos);

  /**
   * Returns the servers that have keys, as far as they are known without a query: the only one, or
   * the masters of a cluster; of a cluster whose slot map has not been fetched, the nodes that the
   * user named. {@link #refresh} fetches it.
   */
  List<Server> servers();

  /** Returns false on a cluster whose slot map is unknown: {@link #servers} are not all then. */
  boolean knowsAllServers();

  /** Returns whether the server has the slot, as far as it is known without a query. */
  boolean hasSlot(Server server, int slot);

  /** Returns the number of servers in use whose last command had no reply. */
  int unreachableServers();

  /** Returns the number of borrowed connections. */
  int connectionsInUse();

  @Override
  void close();

  /** Is notified when a server stops answering commands, and when it answers again. */
  @FunctionalInterface
  interface ReachabilityObserver {
    /**
     * Is called once for each change, by the thread whose command has found it. Must not block.
     *
     * @param server the server, as messages name it
     * @param fault the failure of the first command without a reply; null when the server has
     *     answered again
     */
    void changed(String server, @Nullable CommandException fault);
  }

  /** A server, or any of several servers, on which channels are subscribed. */
  interface SubscriptionEndpoint {
    /** Returns a new connection for a subscription. The caller closes it. */
    Connection connect(Deadline deadline) throws CommandException;

    /** Returns whether the channels there have slots. */
    default boolean isSharded() {
      return false;
    }
  }

  /** One server, whatever keys it has. Its {@code toString} is its address. */
  interface Server extends SubscriptionEndpoint {
    /** Runs one exchange there; see {@link RedisNode#exchange}. */
    Reply exchange(Exchange exchange, Deadline deadline) throws CommandException;
  }
}
