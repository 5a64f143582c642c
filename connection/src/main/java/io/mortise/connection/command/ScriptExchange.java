package io.mortise.connection.command;

import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.pipeline.CombinableExchange;
import io.mortise.connection.pipeline.PendingCommand;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.Exchange;
import io.mortise.connection.pool.Reply;
import io.mortise.connection.topology.Topology;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/**
 * One script on a connection: EVALSHA, and EVAL with the text when the server does not know it.
 *
 * @param topology returns the server that has the keys, and the command that publishes, at the time
 *     when the script is sent
 * @param sendsAsking whether ASKING is sent before each of the two: it counts for one command, so a
 *     node that is importing the slot, and has never seen the script, would redirect the second one
 */
public record ScriptExchange(ScriptRequest request, Topology topology, boolean sendsAsking)
    implements CombinableExchange {

  public ScriptExchange(ScriptRequest request, Topology topology) {
    this(request, topology, false);
  }

  /** Runs the script at the server that has its keys. */
  Reply run(Deadline deadline) throws CommandException {
    return topology.exchange(request.slot(topology), this, deadline);
  }

  @Override
  public Exchange asking() {
    return new ScriptExchange(request, topology, true);
  }

  @Override
  public Object on(Connection connection, Deadline deadline) {
    try {
      return write(connection, bySha1());
    } catch (JedisNoScriptException unknown) {
      connection.setSoTimeout(deadline.leftMillis());
      return write(connection, byText());
    }
  }

  @Override
  public PendingCommand pendingCommand(boolean byText, Deadline deadline) {
    byte[] text = byText ? request.script().text() : request.script().sha1();
    return new PendingCommand(byText ? byText() : bySha1(), request.bytes(text), deadline);
  }

  @Override
  public int bytes() {
    return request.bytes(request.script().sha1());
  }

  CommandArguments bySha1() {
    return request.arguments(Command.EVALSHA, request.script().sha1(), topology.publishCommand());
  }

  CommandArguments byText() {
    return request.arguments(Command.EVAL, request.script().text(), topology.publishCommand());
  }

  /** Returns whether this is a short command of one caller. */
  @Override
  public boolean isCombinable() {
    return !sendsAsking && !request.script().batch();
  }

  private Object write(Connection connection, CommandArguments command) {
    if (sendsAsking) {
      connection.executeCommand(new CommandArguments(Command.ASKING));
    }
    return connection.executeCommand(command);
  }
}
