package io.mortise.connection.testing;

import static io.mortise.scripts.ScriptCall.bytes;

import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.util.List;

/** Calls of real scripts, for tests that do not look at what they do. */
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

  /** A short command. */
  public static ScriptCall inspect(String name) {
    return new ScriptCall(INSPECT, List.of(bytes(name)), List.of());
  }
}
