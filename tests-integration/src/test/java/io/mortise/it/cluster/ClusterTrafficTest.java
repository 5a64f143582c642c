package io.mortise.it.cluster;

import static io.mortise.it.cluster.ClusterChannels.subscribedNodes;
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
import io.mortise.it.support.LongLease;
import io.mortise.it.support.Names;
import io.mortise.it.support.ServerUris;
import io.mortise.testkit.RedisCluster;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The commands that a client sends to the nodes, counted there, and that nothing is left. */
@Timeout(120)
@Tag("redis-version")
class ClusterTrafficTest {
  private static final int HOLDS = 600;
  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final Pattern READS = Pattern.compile("total_reads_processed:(\\d+)");

  @AutoClose private static final RedisCluster servers = RedisCluster.builder().replicas(0).start();

  private static LockClient client() {
    return LockClient.create(ServerUris.of(servers), LongLease.OPTIONS);
  }

  private static long reads(RedisServer node) {
    Matcher field = READS.matcher(String.valueOf(node.command("INFO", "stats")));
    return field.find() ? Long.parseLong(field.group(1)) : -1;
  }

  private static long renewals(RedisServer node) {
    return node.commandStats().getOrDefault("pexpire", 0L);
  }

  private static CompletableFuture<Optional<Lease>> startWaiter(LockClient client, String name) {
    return new RedisLock(client, name).acquireAsync(Duration.ofMinutes(1)).toCompletableFuture();
  }

  @Test
  void renewalsAreARoundTripForEachNodeAndNotForEachLock() throws Exception {
    LockOptions options = LockOptions.builder().lease(LEASE).build();
    try (LockClient client = LockClient.create(ServerUris.of(servers), options)) {
      List<Lease> leases = new ArrayList<>();
      String prefix = Names.fresh() + ":";
      for (int i = 0; i < HOLDS; i++) {
        leases.add(new RedisLock(client, prefix + i).tryAcquire().orElseThrow());
      }
      List<RedisServer> nodes = servers.nodes();
      nodes.forEach(RedisServer::resetStats);
      List<Long> before = nodes.stream().map(ClusterTrafficTest::reads).toList();

      // The questions of the test are reads too, so it asks seldom.
      await()
          .pollInterval(Duration.ofSeconds(1))
          .atMost(Duration.ofSeconds(20))
          .until(() -> nodes.stream().mapToLong(ClusterTrafficTest::renewals).sum() >= 3 * HOLDS);

      for (int i = 0; i < nodes.size(); i++) {
        long reads = reads(nodes.get(i)) - before.get(i);
        long renewals = renewals(nodes.get(i));
        System.out.printf("node %d: %d reads for %d renewals%n", i, reads, renewals);
        // A read is of 16 kB at most, so a batch takes some; one by one they would take one each.
        assertTrue(reads * 2 < renewals, () -> reads + " reads for " + renewals + " renewals");
      }
      assertTrue(leases.stream().allMatch(Lease::isValid));
    }
  }

  @Test
  void aChannelIsSubscribedAtOneNodeAlone() throws Exception {
    String name = Names.fresh();
    try (LockClient here = client();
        LockClient there = client()) {
      Lease held = new RedisLock(here, name).tryAcquire().orElseThrow();
      CompletableFuture<Optional<Lease>> waiter = startWaiter(there, name);
      await().until(() -> !subscribedNodes(servers, name).isEmpty());
      List<RedisServer> nodes = subscribedNodes(servers, name);
      assertEquals(1, nodes.size());
      RedisServer node = nodes.get(0);
      if (ClusterChannels.areSharded(node)) {
        assertEquals(servers.masterOf(name), node);
        assertEquals(List.of(), node.command("PUBSUB", "CHANNELS"), "no channel for all nodes");
      }
      assertFalse(waiter.isDone());
      held.close();
      waiter.get().orElseThrow().close();
    }
  }

  @Test
  void nothingIsLeftAfterAClientIsClosed() throws Exception {
    List<Integer> before = connections();
    LockClient client = client();
    try (LockClient other = client()) {
      List<Lease> held = new ArrayList<>();
      List<CompletableFuture<Optional<Lease>>> waiters = new ArrayList<>();
      for (RedisServer master : servers.masters()) {
        String name = nameAt(master);
        held.add(new RedisLock(other, name).tryAcquire().orElseThrow());
        waiters.add(startWaiter(client, name));
        await().until(() -> subscribedNodes(servers, name).size() == 1);
        held.add(new RedisLock(client, name + ":too").tryAcquire().orElseThrow());
      }
      client.close();
      assertTrue(waiters.stream().allMatch(CompletableFuture::isDone));
      assertEquals(3, held.stream().filter(Lease::isValid).count(), "those of the other client");
    }
    Eventually.until("no thread is left", () -> ClientResources.threads(client).isEmpty());
    Eventually.untilAsserted("no connection is left", () -> assertEquals(before, connections()));
    for (RedisServer node : servers.nodes()) {
      assertEquals(List.of(), ClusterChannels.at(node));
    }
  }

  /** Returns a name in a slot of that master. */
  private static String nameAt(RedisServer master) {
    return Stream.generate(Names::fresh)
        .filter(name -> servers.masterOf(name) == master)
        .findFirst()
        .orElseThrow();
  }

  /** Returns the number of each node's connections, without those between nodes. */
  private static List<Integer> connections() {
    return servers.nodes().stream()
        .map(node -> String.valueOf(node.command("CLIENT", "LIST")))
        .map(list -> (int) list.lines().filter(line -> line.contains("cmd=")).count())
        .toList();
  }
}
