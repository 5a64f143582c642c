package io.mortise.it.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.scripts.Script;
import io.mortise.testkit.RedisServer;
import java.util.List;
import java.util.stream.Stream;

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
    return scripts().count();
  }

  /** As {@link #count}, without those of that name. */
  public long countWithout(String script) {
    String sha1 = new String(Script.load(script).sha1(), UTF_8);
    return scripts().filter(command -> !command.get(1).toString().equals(sha1)).count();
  }

  private Stream<List<?>> scripts() {
    return ((List<?>) server.command("SLOWLOG", "GET", ALL))
        .stream().<List<?>>map(entry -> (List<?>) ((List<?>) entry).get(3)).filter(this::isScript);
  }

  private boolean isScript(List<?> command) {
    return command.get(0).toString().startsWith("EVAL")
        && command.stream().anyMatch(word -> word.toString().equals(lock));
  }
}
