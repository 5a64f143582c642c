package io.mortise.connection.command;

import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ErrorClassifier;
import io.mortise.connection.pool.Exchange;
import io.mortise.connection.topology.Topology;
import io.mortise.scripts.Script;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.ToIntFunction;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/**
 * Many scripts on a connection: all are written, then their answers are read. The answer is the
 * list of theirs; a refusal is one of them. But when the server takes none because it is a replica
 * now, that is the answer to the whole: other connections to it are of no use either.
 *
 * @param requests no more than the server can be sent at once, see {@link #firstPart}
 * @param byText whether the first request of each script brings its text, so that the server needs
 *     to know none of them
 */
record PipelinedExchange(List<ScriptRequest> requests, Topology topology, boolean byText)
    implements Exchange {

  /** Returns the first requests, which may be written at once, see {@link WriteBound}. */
  static List<ScriptRequest> firstPart(List<ScriptRequest> requests, boolean byText) {
    return WriteBound.first(requests, size(byText));
  }

  /** Returns what measures requests, one after the other, as they are written. */
  private static ToIntFunction<ScriptRequest> size(boolean byText) {
    Set<Script> texts = new HashSet<>();
    return request -> {
      Script script = request.script();
      return request.bytes(byText && texts.add(script) ? script.text() : script.sha1());
    };
  }

  @Override
  public int bytes() {
    return requests.stream().mapToInt(size(byText)).sum();
  }

  @Override
  public Object on(Connection connection, Deadline deadline) {
    Set<Script> texts = new HashSet<>();
    for (ScriptRequest request : requests) {
      ScriptExchange exchange = new ScriptExchange(request, topology);
      boolean first = byText && texts.add(request.script());
      connection.sendCommand(first ? exchange.byText() : exchange.bySha1());
    }
    List<Object> replies = new ArrayList<>(requests.size());
    for (int i = 0; i < requests.size(); i++) {
      replies.add(read(connection, deadline));
    }
    for (int i = 0; i < requests.size(); i++) {
      if (replies.get(i) instanceof JedisNoScriptException) {
        replies.set(i, rerun(connection, deadline, requests.get(i)));
      }
    }
    if (replies.stream().allMatch(PipelinedExchange::isReadOnly)) {
      throw (JedisDataException) replies.get(0);
    }
    return replies;
  }

  /** Reads one reply; the socket of a Jedis client gives each read the whole of its time-out. */
  private static Object read(Connection connection, Deadline deadline) {
    connection.setSoTimeout(deadline.leftMillis());
    try {
      return connection.getOne();
    } catch (JedisDataException refused) {
      return refused;
    }
  }

  private static boolean isReadOnly(Object reply) {
    return reply instanceof JedisDataException refusal
        && ErrorClassifier.of(refusal, "", true).kind() == Kind.READ_ONLY;
  }

  private Object rerun(Connection connection, Deadline deadline, ScriptRequest request) {
    try {
      return new ScriptExchange(request, topology).on(connection, deadline);
    } catch (JedisDataException refused) {
      return refused;
    }
  }
}
