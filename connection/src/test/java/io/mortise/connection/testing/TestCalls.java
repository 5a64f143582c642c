package io.mortise.connection.testing;

import static io.mortise.scripts.ScriptCall.bytes;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.topology.Topology;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.util.List;
import redis.clients.jedis.Protocol.Command;

/** Commands for tests that do not look at what they do. */
public final class TestCalls {
  private static final Script RENEW = Script.load("lock/renew");
  private static final Script INSPECT = Script.load("lock/inspect");

  private TestCalls() {}

  /** One item of a batch. */
  public static ScriptCall renew(String name, String holder, long leaseMillis) {
    String tagged = name.contains("{") ? name : "{" + name + "}";
    return new ScriptCall(
        RENEW,
        List.of(bytes(name), bytes("mortise_forced:" + tagged)),
        List.of(bytes(holder), bytes(leaseMillis)));
  }

  /** Sends a PING, which has to be answered in that time; returns the answer. */
  public static String ping(Topology servers, long withinNanos) throws CommandException {
    Object pong =
        servers
            .exchange(
                0,
                (connection, deadline) -> connection.executeCommand(Command.PING),
                TestSettings.after(withinNanos))
            .value();
    return new String((byte[]) pong, UTF_8);
  }

  /** A short command. */
  public static ScriptCall inspect(String name) {
    return new ScriptCall(INSPECT, List.of(bytes(name)), List.of());
  }
}
