package io.mortise.it.cluster;

import static io.mortise.it.cluster.ClusterClients.heardAt;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.testkit.RedisCluster;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a client says to the nodes, counted there, and that nothing of it stays. */
@Timeout(120)
@Tag("redis-version")
class ClusterTrafficTest {
  private static final int HOLDS = 600;
  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final Pattern READS = Pattern.compile("total_reads_processed:(\\d+)");

  private static RedisCluster servers;

  @BeforeAll
  static void start() {
    servers = RedisCluster.builder().replicas(0).start();
  }

  @AfterAll
  static void stop() {
    servers.close();
  }

  private static long reads(RedisServer node) {
    Matcher field = READS.matcher(String.valueOf(node.command("INFO", "stats")));
    return field.find() ? Long.parseLong(field.group(1)) : -1;
  }

  private static long renewals() {
    return servers.nodes().stream()
        .mapToLong(node -> node.commandStats().getOrDefault("pexpire", 0L))
        .sum();
  }

  @Test
  void renewalsAreARoundTripForEachNodeAndNotForEachLock() throws Exception {
    LockOptions options = LockOptions.builder().lease(LEASE).build();
    try (LockClient client = LockClient.create(ClusterClients.uri(servers), options)) {
      List<Lease> leases = new ArrayList<>();
      String prefix = Names.fresh() + ":";
      for (int i = 0; i < HOLDS; i++) {
        leases.add(new RedisLock(client, prefix + i).tryAcquire().orElseThrow());
      }
      servers.nodes().forEach(RedisServer::resetStats);
      List<Long> before = servers.nodes().stream().map(ClusterTrafficTest::reads).toList();

      // Asking is read too, so it is not done often.
      await()
          .pollInterval(Duration.ofSeconds(1))
          .atMost(Duration.ofSeconds(20))
          .until(() -> renewals() >= 3 * HOLDS);

      for (int i = 0; i < servers.nodes().size(); i++) {
        RedisServer node = servers.nodes().get(i);
        long trips = reads(node) - before.get(i);
        long renewals = node.commandStats().getOrDefault("pexpire", 0L);
        System.out.printf("node %d: %d reads for %d renewals%n", i, trips, renewals);
        // A read is of 16 kB at most, so a batch takes some; one by one they would take one each.
        assertTrue(trips * 2 < renewals, () -> trips + " reads for " + renewals + " renewals");
      }
      assertTrue(leases.stream().allMatch(Lease::isValid));
    }
  }

  @Test
  void aChannelIsHeardAtOneNodeAlone() throws Exception {
    String name = Names.fresh();
    try (LockClient here = ClusterClients.client(servers);
        LockClient there = ClusterClients.client(servers)) {
      Lease held = new RedisLock(here, name).tryAcquire().orElseThrow();
      CompletableFuture<Optional<Lease>> waiting =
          new RedisLock(there, name).acquireAsync(Duration.ofMinutes(1)).toCompletableFuture();
      await().until(() -> !heardAt(servers, name).isEmpty());
      List<RedisServer> nodes = heardAt(servers, name);
      assertEquals(1, nodes.size());
      RedisServer node = nodes.get(0);
      if (ClusterClients.isSharded(node)) {
        assertEquals(servers.masterOf(name), node);
        assertEquals(List.of(), node.command("PUBSUB", "CHANNELS"), "no channel for all nodes");
      }
      assertFalse(waiting.isDone());
      held.close();
      waiting.get().orElseThrow().close();
    }
  }

  @Test
  void afterTheClosingNothingIsLeft() throws Exception {
    List<Integer> before = connections();
    LockClient client = ClusterClients.client(servers);
    try (LockClient other = ClusterClients.client(servers)) {
      List<Lease> held = new ArrayList<>();
      List<CompletableFuture<Optional<Lease>>> waiting = new ArrayList<>();
      for (RedisServer master : servers.masters()) {
        String name = ClusterClients.nameAt(servers, master, Names.fresh());
        held.add(new RedisLock(other, name).tryAcquire().orElseThrow());
        waiting.add(
            new RedisLock(client, name).acquireAsync(Duration.ofMinutes(1)).toCompletableFuture());
        await().until(() -> heardAt(servers, name).size() == 1);
        held.add(new RedisLock(client, name + ":too").tryAcquire().orElseThrow());
      }
      client.close();
      assertTrue(waiting.stream().allMatch(CompletableFuture::isDone));
      assertEquals(3, held.stream().filter(Lease::isValid).count(), "those of the other client");
    }
    Eventually.until("no thread is left", () -> ClientResources.threads(client).isEmpty());
    Eventually.untilAsserted("no connection is left", () -> assertEquals(before, connections()));
    for (RedisServer node : servers.nodes()) {
      assertEquals(List.of(), ClusterClients.channels(node));
    }
  }

  /** Of each node, without those among nodes. */
  private static List<Integer> connections() {
    return servers.nodes().stream()
        .map(node -> String.valueOf(Objects.requireNonNull(node.command("CLIENT", "LIST"))))
        .map(list -> (int) list.lines().filter(line -> line.contains("cmd=")).count())
        .toList();
  }
}
