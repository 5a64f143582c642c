package io.mortise.connection.command;

import io.mortise.connection.pipeline.CombinableExchange;
import io.mortise.connection.pipeline.PendingCommand;
import io.mortise.connection.pool.Deadlines;
import io.mortise.connection.pool.Exchange;
import io.mortise.connection.topology.Topology;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/**
 * One script on a connection: EVALSHA, and EVAL with the text when the server does not know it.
 *
 * @param servers say with which command it publishes, at the time when it is sent
 * @param asks whether ASKING stands before each of the two: it counts for one command, so a node
 *     that is getting the slot, and has never seen the script, would send the second one back
 */
public record ScriptExchange(ScriptRequest request, Topology servers, boolean asks)
    implements CombinableExchange {

  public ScriptExchange(ScriptRequest request, Topology servers) {
    this(request, servers, false);
  }

  @Override
  public Exchange asking() {
    return new ScriptExchange(request, servers, true);
  }

  @Override
  public Object on(Connection connection, long deadlineNanos) {
    try {
      return write(connection, bySha1());
    } catch (JedisNoScriptException unknown) {
      connection.setSoTimeout(Deadlines.millisUntil(deadlineNanos));
      return write(connection, byText());
    }
  }

  @Override
  public PendingCommand pendingCommand(boolean byText, long deadlineNanos) {
    byte[] text = byText ? request.script().text() : request.script().sha1();
    return new PendingCommand(byText ? byText() : bySha1(), request.bytes(text), deadlineNanos);
  }

  CommandArguments bySha1() {
    return request.arguments(Command.EVALSHA, request.script().sha1(), servers.publishCommand());
  }

  CommandArguments byText() {
    return request.arguments(Command.EVAL, request.script().text(), servers.publishCommand());
  }

  /** A short command of one caller. */
  @Override
  public boolean isCombinable() {
    return !asks && !request.script().batch();
  }

  private Object write(Connection connection, CommandArguments command) {
    if (asks) {
      connection.executeCommand(new CommandArguments(Command.ASKING));
    }
    return connection.executeCommand(command);
  }
}
