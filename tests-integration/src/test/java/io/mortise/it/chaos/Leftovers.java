package io.mortise.it.chaos;

import static org.awaitility.Awaitility.await;

import io.mortise.it.support.ClientRecords;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;

/**
 * Looks for what is left on the servers when all clients have ended and all leases have run out:
 * only the last tokens, and records of clients, may be, which expire.
 *
 * <p>The next acquisition removes a killed waiter from a queue, nothing else does; so each lock is
 * acquired once before.
 */
final class Leftovers {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final String TOKENS = "redisson_lock_token:";

  private Leftovers() {}

  static List<String> of(ChaosServers servers, Settings settings, Runnable acquireAllOnce)
      throws InterruptedException {
    PlannedTime.pass(settings.lease());
    acquireAllOnce.run();
    List<String> left = new ArrayList<>();
    for (RedisServer server : servers.masters()) {
      try {
        await().atMost(LIMIT).until(() -> on(server).isEmpty());
      } catch (ConditionTimeoutException e) {
        on(server).forEach(thing -> left.add(server + ": " + thing));
      }
    }
    return left;
  }

  private static List<String> on(RedisServer server) {
    return Stream.of(
            keys(server).map(key -> "key " + key),
            list(server.command("PUBSUB", "CHANNELS"))
                .filter(channel -> !channel.startsWith("__sentinel__"))
                .map(channel -> "channel " + channel),
            connections(server).map(line -> "connection " + line))
        .flatMap(each -> each)
        .toList();
  }

  /** Returns the keys, without tokens, and records of killed clients, that expire. */
  static Stream<String> keys(RedisServer server) {
    return list(server.command("KEYS", "*"))
        .filter(
            key ->
                !(key.startsWith(TOKENS) || ClientRecords.isRecord(key))
                    || isPersistent(server, key));
  }

  /** Returns what the server says of each connection of a client, except the present one. */
  static Stream<String> connections(RedisServer server) {
    return ((String) server.command("CLIENT", "LIST"))
        .lines()
        .filter(Leftovers::isClient)
        .skip(1); // the connection of this command
  }

  private static boolean isPersistent(RedisServer server, String key) {
    return Long.valueOf(-1).equals(server.command("PTTL", key));
  }

  /** Returns whether it is neither a replica nor a sentinel. */
  private static boolean isClient(String line) {
    return !line.matches(".* flags=[^ ]*[SM].*") && !line.contains(" name=sentinel-");
  }

  private static Stream<String> list(Object reply) {
    return ((List<?>) reply).stream().map(String::valueOf);
  }
}
