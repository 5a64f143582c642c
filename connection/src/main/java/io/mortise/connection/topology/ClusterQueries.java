package io.mortise.connection.topology;

import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ServerInfo;
import java.util.concurrent.TimeoutException;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;

/** Queries one node about its cluster, until a deadline. */
record ClusterQueries(RedisNode node, Deadline deadline) {

  /** Returns the highest epoch that the node knows; throws if its cluster is down. */
  long epoch() throws CommandException {
    ServerInfo info = ServerInfo.of(cluster("INFO"));
    if (!info.field("cluster_state").orElse("ok").equals("ok")) {
      throw notReady(node + " cannot reach most masters, or a slot has none");
    }
    return info.number("cluster_current_epoch").orElse(0);
  }

  /** Returns the slot map of the node, which has to name a master. */
  SlotMap slots(HostAndPort address, long epoch) throws CommandException {
    Object slots = cluster("SLOTS");
    try {
      SlotMap fetched = SlotMap.of(slots, address, epoch);
      if (fetched.masters().isEmpty()) {
        throw notReady(node + " knows of no slots");
      }
      return fetched;
    } catch (RuntimeException odd) {
      throw new CommandException(
          Kind.NOT_READY, false, node + " gave an answer that cannot be read", odd);
    }
  }

  boolean knowsSharding() throws CommandException {
    return (Boolean) node.exchange(ClusterQueries::querySharding, deadline).value();
  }

  private static Object querySharding(Connection connection, Deadline deadline) {
    try {
      connection.executeCommand(new CommandArguments(Command.PUBSUB).add("SHARDNUMSUB"));
      return true;
    } catch (JedisDataException refusal) {
      if (String.valueOf(refusal.getMessage()).startsWith("ERR")) {
        return false; // Redis before 7
      }
      throw refusal;
    }
  }

  private Object cluster(String question) throws CommandException {
    return node.exchange(
            (connection, unused) ->
                connection.executeCommand(new CommandArguments(Command.CLUSTER).add(question)),
            deadline)
        .value();
  }

  /** Returns the failure of a query for which the time is over. */
  static CommandException timeOut(ClusterNodes nodes) {
    return new CommandException(
        Kind.UNREACHABLE, false, nodes + " did not answer in time", new TimeoutException());
  }

  /** Returns the failure of a node whose slot map does not count. */
  static CommandException notReady(String why) {
    return new CommandException(Kind.NOT_READY, false, why, null);
  }
}
