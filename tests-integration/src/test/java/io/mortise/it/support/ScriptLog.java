package io.mortise.it.support;

import io.mortise.testkit.RedisServer;
import java.util.List;

/**
 * The scripts that clients send for one lock from now on. The statistics of the server count those
 * for other locks too, such as the look of a client 25 ms after a release in an earlier test.
 */
public final class ScriptLog {
  private static final String ALL = "100000";
  private final RedisServer server;
  private final String lock;

  public ScriptLog(RedisServer server, String lock) {
    this.server = server;
    this.lock = lock;
    server.command("CONFIG", "SET", "slowlog-log-slower-than", "0");
    server.command("CONFIG", "SET", "slowlog-max-len", ALL);
    server.command("SLOWLOG", "RESET");
  }

  public long count() {
    return ((List<?>) server.command("SLOWLOG", "GET", ALL))
        .stream().map(entry -> (List<?>) ((List<?>) entry).get(3)).filter(this::isScript).count();
  }

  private boolean isScript(List<?> command) {
    return command.get(0).toString().startsWith("EVAL")
        && command.stream().anyMatch(word -> word.toString().equals(lock));
  }
}
