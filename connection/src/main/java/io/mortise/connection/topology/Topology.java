package io.mortise.connection.topology;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.Exchange;
import io.mortise.connection.pool.Reply;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;

/**
 * The servers behind one client, and which of them has which key: one server (which sentinels may
 * replace by another), or a cluster.
 *
 * <p>Keys are told apart by their hash slot. One server has one slot for all, 0, so that whatever
 * is gathered by slot goes together there.
 */
public interface Topology extends AutoCloseable {
  /** The command of a server that is none of a cluster, or of one whose channels have no slots. */
  byte[] PUBLISH = "PUBLISH".getBytes(US_ASCII);

  /** The command of a cluster whose channels have slots. */
  byte[] SPUBLISH = "SPUBLISH".getBytes(US_ASCII);

  /** The slot of a key. Keys of one slot may go in one command. */
  int slotOf(byte[] key);

  /**
   * What has the slot, as far as it is known without asking: slots with equal answers can go in one
   * round trip.
   */
  Object serverOf(int slot);

  /**
   * Runs one exchange at the server that has the slot; see {@link RedisNode#exchange}. Follows the
   * slot when it has moved, within the same time.
   */
  Reply exchange(int slot, Exchange exchange, long timeoutNanos) throws CommandException;

  /**
   * As {@link #exchange}, for what must not run twice; see {@link RedisNode#exchangeAtMostOnce}. A
   * server that only says where the slot is has not run it.
   */
  Reply exchangeAtMostOnce(int slot, Exchange exchange, long timeoutNanos) throws CommandException;

  /**
   * Whether the answer to a part of an exchange says that it belongs elsewhere, or elsewhere soon;
   * it has not run then, and is to be sent again.
   */
  boolean isRedirect(Object answer);

  /**
   * The command with which scripts publish. Known after the first exchange has found its server.
   */
  byte[] publishCommand();

  /** Where the messages of a channel are heard; null while that is not known. */
  Topology.@Nullable SubscriptionEndpoint endpointFor(String channel);

  /** Whether channels have slots as keys have, so that they move with them. */
  boolean isSharded();

  /**
   * Asks who has which slots, within a short time; what {@link #onChange} set follows from it. Does
   * nothing where that cannot change.
   */
  void refresh();

  /**
   * Looks for another server in the place of one; called regularly by the scheduler's thread, and
   * does not block.
   *
   * @param inUse whether anything is held or waited for
   */
  void checkForFailover(boolean inUse);

  /** Whether {@link #checkForFailover} has anything to look for. */
  boolean canFailOver();

  /** What to do when a connection broke; to be set before the first use. */
  void onConnectionLost(Runnable action);

  /** What to do when another server has a key than before; to be set before the first use. */
  void onChange(Runnable action);

  /** What a cluster has in common whichever way it is reached; empty when it is none. */
  Optional<String> clusterId();

  int connectionsInUse();

  @Override
  void close();

  /** A server, or any of several, on which channels are subscribed. */
  interface SubscriptionEndpoint {
    /** A connection for a subscription. The caller closes it. */
    Connection connect() throws CommandException;
  }
}
