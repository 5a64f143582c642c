package io.mortise.testkit.memory;

import static io.mortise.testkit.memory.Replies.OK;

import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The commands on the server itself and on its scripts, as far as a Jedis client and the locks send
 * them.
 *
 * <p><b>Threads.</b> Guarded by the monitor of the {@link MemoryServer}.
 */
final class ServerCommands {
  private final LuaScripts scripts;
  private final Supplier<String> runId;

  private ServerCommands(LuaScripts scripts, Supplier<String> runId) {
    this.scripts = scripts;
    this.runId = runId;
  }

  static void addTo(CommandTable table, LuaScripts scripts, Supplier<String> runId) {
    ServerCommands commands = new ServerCommands(scripts, runId);
    table.add("HELLO", 0, -1, ServerCommands::hello);
    table.add("PING", 0, 1, words -> words.isEmpty() ? new Replies.Status("PONG") : words.get(0));
    table.add("ECHO", 1, 1, words -> words.get(0));
    table.add("SELECT", 1, 1, words -> OK);
    table.add("CLIENT", 1, -1, words -> OK);
    table.add("INFO", 0, -1, words -> commands.info());
    table.add("CONFIG", 2, -1, ServerCommands::config);
    table.add("WAIT", 2, 2, words -> 0L);
    table.add("EVAL", 2, -1, words -> commands.run(scripts.load(words.get(0)), words));
    table.add("EVALSHA", 2, -1, words -> commands.run(words.get(0), words));
    table.add("SCRIPT", 1, -1, commands::script);
  }

  /** Agrees to RESP2 only. */
  private static Object hello(List<String> words) {
    if (!words.isEmpty() && !words.get(0).equals("2")) {
      throw new RedisError("NOPROTO unsupported protocol version");
    }
    return List.of("server", "redis", "version", "7.4.0", "proto", 2L, "mode", "standalone");
  }

  private String info() {
    return """
        # Server\r
        redis_version:7.4.0\r
        redis_mode:standalone\r
        run_id:%s\r
        # Replication\r
        role:master\r
        # Memory\r
        maxmemory:0\r
        maxmemory_policy:noeviction\r
        """
        .formatted(runId.get());
  }

  private static Object config(List<String> words) {
    if (!words.get(0).equalsIgnoreCase("GET")) {
      throw new RedisError("ERR unknown subcommand '%s'".formatted(words.get(0)));
    }
    return words.get(1).equalsIgnoreCase("maxmemory-policy")
        ? List.of("maxmemory-policy", "noeviction")
        : List.of();
  }

  private @Nullable Object run(String sha, List<String> words) {
    long keys = Words.integer(words.get(1));
    if (keys < 0) {
      throw new RedisError("ERR Number of keys can't be negative");
    } else if (keys > words.size() - 2) {
      throw new RedisError("ERR Number of keys can't be greater than number of args");
    }
    int arguments = 2 + (int) keys;
    return scripts.run(sha, words.subList(2, arguments), words.subList(arguments, words.size()));
  }

  private Object script(List<String> words) {
    List<String> rest = words.subList(1, words.size());
    return switch (words.get(0).toUpperCase(Locale.ROOT)) {
      case "LOAD" -> scripts.load(rest.get(0));
      case "EXISTS" -> rest.stream().map(sha -> scripts.knows(sha) ? 1L : 0L).toList();
      case "FLUSH" -> {
        scripts.flush();
        yield OK;
      }
      default -> throw new RedisError("ERR unknown subcommand '%s'".formatted(words.get(0)));
    };
  }
}
