package io.mortise.testkit;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.util.SafeEncoder;

/**
 * Sends commands to one server, over a new connection each time: no fault of the server breaks it.
 *
 * <p><b>Threads.</b> Immutable; any thread may call all methods.
 */
final class ServerConnection {
  private static final int TIMEOUT_MILLIS = 10_000;
  private static final int READY_TIMEOUT_MILLIS = 1_000;

  private final String host;
  private final int port;
  private final @Nullable String password;

  ServerConnection(String host, int port, @Nullable String password) {
    this.host = host;
    this.port = port;
    this.password = password;
  }

  String host() {
    return host;
  }

  int port() {
    return port;
  }

  @Nullable Object command(String... words) {
    try (Jedis jedis = connect(TIMEOUT_MILLIS)) {
      return SafeEncoder.encodeObject(
          jedis.sendCommand(
              () -> SafeEncoder.encode(words[0]), Arrays.copyOfRange(words, 1, words.length)));
    }
  }

  Map<String, String> info(String section) {
    try (Jedis jedis = connect(TIMEOUT_MILLIS)) {
      return fields(jedis.info(section));
    }
  }

  Map<String, Long> commandStats() {
    return info("commandstats").entrySet().stream()
        .map(field -> Map.entry(field.getKey().replace("cmdstat_", ""), calls(field.getValue())))
        .filter(
            stat -> !List.of("auth", "info", "config").contains(stat.getKey().split("\\|", 2)[0]))
        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue, Long::sum, TreeMap::new));
  }

  /**
   * Whether this process, and no other that has the port by chance, answers and has loaded its
   * data.
   */
  boolean isReady(long pid) {
    try (Jedis jedis = connect(READY_TIMEOUT_MILLIS)) {
      Map<String, String> fields = fields(jedis.info());
      return Long.toString(pid).equals(fields.get("process_id"))
          && "0".equals(fields.getOrDefault("loading", "0")); // a sentinel loads nothing
    } catch (JedisException notYet) {
      return false;
    }
  }

  /** Without a handshake, which would show in the command statistics. */
  private Jedis connect(int timeoutMillis) {
    return new Jedis(
        host,
        port,
        DefaultJedisClientConfig.builder()
            .timeoutMillis(timeoutMillis)
            .serverDefaultProtocol()
            .clientSetInfoConfig(ClientSetInfoConfig.DISABLED)
            .password(password)
            .build());
  }

  private static long calls(String stat) {
    return Long.parseLong(stat.replaceFirst("calls=(\\d+),.*", "$1"));
  }

  private static Map<String, String> fields(String info) {
    Map<String, String> fields = new HashMap<>();
    info.lines()
        .filter(line -> line.contains(":"))
        .map(line -> line.split(":", 2))
        .forEach(field -> fields.put(field[0], field[1].strip()));
    return fields;
  }
}
