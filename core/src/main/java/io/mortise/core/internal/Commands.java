package io.mortise.core.internal;

import io.mortise.core.LockException.Reason;
import io.mortise.core.internal.RedisNode.Reply;
import io.mortise.core.spi.ScriptCall;
import io.mortise.scripts.Script;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/**
 * Runs scripts: EVALSHA, and EVAL with the text when the server does not know the script, as after
 * a restart, a failover, or SCRIPT FLUSH. Nothing is remembered about what a server knows.
 */
final class Commands {
  private static final int PIPELINED = 500;
  private static final long LEAST_NANOS = 100_000_000L;

  private final RedisNode node;
  private final long timeoutNanos;

  Commands(RedisNode node, long timeoutNanos) {
    this.node = node;
    this.timeoutNanos = timeoutNanos;
  }

  /** How long a command may take when its caller has no shorter limit. */
  long timeoutNanos() {
    return timeoutNanos;
  }

  /** Runs one call. */
  Reply run(ScriptCall call, long withinNanos) throws Fault {
    return node.exchange(
        (connection, deadline) ->
            on(connection, deadline, call.script(), call.keys(), call.arguments()),
        Math.min(withinNanos, timeoutNanos));
  }

  Reply run(ScriptCall call) throws Fault {
    return run(call, timeoutNanos);
  }

  /** Runs a call that must not run twice; a fault says whether it may have run. */
  Reply runOnce(ScriptCall call) throws Fault {
    return node.exchangeOnce(
        (connection, deadline) ->
            on(connection, deadline, call.script(), call.keys(), call.arguments()),
        timeoutNanos);
  }

  /** What the server says of itself. */
  Object serverInfo() throws Fault {
    return node.exchange(
            (connection, deadline) ->
                connection.executeCommand(new CommandArguments(Command.INFO).add("server")),
            timeoutNanos)
        .value();
  }

  /** Runs one batch script over many items; the answer is a list with a place for each. */
  @SuppressWarnings("unchecked")
  List<Long> runBatch(List<ScriptCall> items, long withinNanos) throws Fault {
    Reply reply = runTogether(items, withinNanos);
    if (reply.value() instanceof List<?> answers && answers.size() == items.size()) {
      return (List<Long>) answers;
    }
    throw new Fault(
        Reason.SCRIPT,
        true,
        "script '%s' has no answer for each of %d items"
            .formatted(items.get(0).script(), items.size()),
        null);
  }

  /** Runs one call that is put together of many; it answers for all of them. */
  Reply runTogether(List<ScriptCall> items, long withinNanos) throws Fault {
    Script script = items.get(0).script();
    List<byte[]> keys = new ArrayList<>(items.size() * script.keys());
    List<byte[]> arguments = new ArrayList<>(items.size() * script.arguments());
    for (ScriptCall item : items) {
      keys.addAll(item.keys());
      arguments.addAll(item.arguments());
    }
    return node.exchange(
        (connection, deadline) -> on(connection, deadline, script, keys, arguments),
        Math.min(withinNanos, timeoutNanos));
  }

  /**
   * Runs many calls one behind the other, without waiting in between.
   *
   * @param deadlineNanos when to end; a little time is left also when it is over
   * @return for each call its answer, or the {@link Fault} that it is
   */
  List<Answer> runAll(List<ScriptCall> calls, long deadlineNanos) throws Fault {
    List<Answer> answers = new ArrayList<>(calls.size());
    for (int from = 0; from < calls.size(); from += PIPELINED) {
      List<ScriptCall> part = calls.subList(from, Math.min(calls.size(), from + PIPELINED));
      long left = Math.max(LEAST_NANOS, deadlineNanos - System.nanoTime());
      Reply replies =
          node.exchange((connection, deadline) -> pipelined(connection, deadline, part), left);
      for (Object reply : (List<?>) replies.value()) {
        answers.add(answer(reply, replies.repeated()));
      }
    }
    return answers;
  }

  /** One of many answers. */
  record Answer(Reply reply, @Nullable Fault fault) {}

  private Answer answer(Object reply, boolean repeated) {
    Fault fault =
        reply instanceof JedisDataException refusal
            ? Faults.of(refusal, node.toString(), true)
            : null;
    return new Answer(new Reply(reply, repeated), fault);
  }

  private static List<Object> pipelined(
      Connection connection, long deadlineNanos, List<ScriptCall> calls) {
    for (ScriptCall call : calls) {
      connection.sendCommand(
          arguments(Command.EVALSHA, call.script().sha1(), call.keys(), call.arguments()));
    }
    List<Object> replies = new ArrayList<>(connection.getMany(calls.size()));
    for (int i = 0; i < calls.size(); i++) {
      ScriptCall call = calls.get(i);
      if (replies.get(i) instanceof JedisNoScriptException) {
        replies.set(i, again(connection, deadlineNanos, call));
      }
    }
    return replies;
  }

  private static Object again(Connection connection, long deadlineNanos, ScriptCall call) {
    try {
      return on(connection, deadlineNanos, call.script(), call.keys(), call.arguments());
    } catch (JedisDataException refused) {
      return refused;
    }
  }

  private static Object on(
      Connection connection,
      long deadlineNanos,
      Script script,
      List<byte[]> keys,
      List<byte[]> arguments) {
    try {
      return connection.executeCommand(arguments(Command.EVALSHA, script.sha1(), keys, arguments));
    } catch (JedisNoScriptException unknown) {
      connection.setSoTimeout(RedisNode.millisUntil(deadlineNanos));
      return connection.executeCommand(arguments(Command.EVAL, script.text(), keys, arguments));
    }
  }

  private static CommandArguments arguments(
      Command command, byte[] script, List<byte[]> keys, List<byte[]> arguments) {
    CommandArguments all = new CommandArguments(command).add(script).add(keys.size());
    for (byte[] key : keys) {
      all.key(key);
    }
    for (byte[] argument : arguments) {
      all.add(argument);
    }
    return all;
  }
}
