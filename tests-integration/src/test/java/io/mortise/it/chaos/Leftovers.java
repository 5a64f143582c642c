package io.mortise.it.chaos;

import static org.awaitility.Awaitility.await;

import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;

/**
 * What is on the servers when all clients have ended, and all leases are over: nothing but the last
 * tokens, which have an end of their own.
 *
 * <p>The place in a queue of somebody who has been killed is taken away by the next who asks, not
 * by itself; so somebody asks once.
 */
final class Leftovers {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final String TOKENS = "redisson_lock_token:";

  private Leftovers() {}

  static List<String> of(ChaosServers arena, Settings settings, Runnable visit)
      throws InterruptedException {
    PlannedTime.pass(settings.lease());
    visit.run();
    List<String> left = new ArrayList<>();
    for (int place = 0; place < arena.servers(); place++) {
      RedisServer server = arena.server(place);
      try {
        await().atMost(PATIENCE).until(() -> on(server).isEmpty());
      } catch (ConditionTimeoutException e) {
        on(server).forEach(thing -> left.add(server + ": " + thing));
      }
    }
    return left;
  }

  private static List<String> on(RedisServer server) {
    return Stream.of(
            words(server.command("KEYS", "*"))
                .filter(key -> !key.startsWith(TOKENS) || isForEver(server, key))
                .map(key -> "key " + key),
            words(server.command("PUBSUB", "CHANNELS"))
                .filter(channel -> !channel.startsWith("__sentinel__"))
                .map(channel -> "channel " + channel),
            ((String) server.command("CLIENT", "LIST"))
                .lines()
                .filter(line -> isClient(line))
                .skip(1) // the one that asks
                .map(line -> "connection " + line))
        .flatMap(each -> each)
        .toList();
  }

  private static boolean isForEver(RedisServer server, String key) {
    return Long.valueOf(-1).equals(server.command("PTTL", key));
  }

  /** Not a replica, and not a sentinel. */
  private static boolean isClient(String line) {
    return !line.matches(".* flags=[^ ]*[SM].*") && !line.contains(" name=sentinel-");
  }

  private static Stream<String> words(Object reply) {
    return ((List<?>) reply).stream().map(String::valueOf);
  }
}
