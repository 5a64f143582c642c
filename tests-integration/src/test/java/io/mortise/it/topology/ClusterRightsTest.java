package io.mortise.it.topology;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.contract.Rights;
import io.mortise.it.support.Names;
import io.mortise.it.support.TestThreads;
import io.mortise.testkit.RedisCluster;
import io.mortise.testkit.RedisServer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The rights that docs/wire.md names for a cluster are enough, and each of them is needed. */
@Timeout(60)
@Tag("redis-version")
@TestInstance(Lifecycle.PER_CLASS)
class ClusterRightsTest {
  private static final List<String> PLAIN_CHANNELS =
      List.of("+subscribe", "+unsubscribe", "+publish");

  /** The place of the value of "object" in an entry of ACL LOG. */
  private static final int OBJECT = 7;

  private final RedisCluster servers = RedisCluster.builder().masters(2).replicas(0).start();

  @AfterAll
  void stop() {
    servers.close();
  }

  /** All rights of a plain lock here; those of the cluster behind. */
  private List<String> rules() throws IOException {
    List<String> rules = Rights.documented("it:");
    List<String> more = Rights.onACluster(servers.nodes().get(0));
    if (more.contains("+spublish")) {
      rules.removeAll(PLAIN_CHANNELS);
    }
    rules.addAll(more);
    return rules;
  }

  private Stream<String> rights() throws IOException {
    return Rights.onACluster(servers.nodes().get(0)).stream();
  }

  @Test
  void theDocumentedRightsAreEnough() throws Exception {
    useAll(rules());
    assertEquals(List.of(), refusals());
  }

  @ParameterizedTest
  @MethodSource("rights")
  void eachDocumentedRightIsNeeded(String right) throws Exception {
    List<String> others = rules();
    others.remove(right);
    try {
      useAll(others);
    } catch (LockException refused) {
      assertEquals(LockException.Reason.ACCESS_DENIED, refused.reason(), refused::getMessage);
    }
    String command = right.substring(1).split("\\|", -1)[0];
    assertTrue(refusals().stream().anyMatch(it -> it.startsWith(command)), () -> "" + refusals());
  }

  /** What the nodes have refused. */
  private List<String> refusals() {
    return servers.nodes().stream()
        .flatMap(node -> ((List<?>) node.command("ACL", "LOG")).stream())
        .map(entry -> (String) ((List<?>) entry).get(OBJECT))
        .filter(object -> !object.startsWith("client")) // Jedis tells its name, if it may
        .toList();
  }

  private String userWith(List<String> rules) {
    String user = "user-" + UUID.randomUUID();
    List<String> words = new ArrayList<>(List.of("ACL", "SETUSER", user, "reset", "on", ">secret"));
    words.addAll(rules);
    for (RedisServer node : servers.nodes()) {
      node.command("SCRIPT", "FLUSH");
      node.command("ACL", "LOG", "RESET");
      node.command(words.toArray(String[]::new));
    }
    RedisServer seed = servers.nodes().get(0);
    return "redis-cluster://%s:secret@%s:%d".formatted(user, seed.host(), seed.port());
  }

  /** A wait that is woken, a channel that is left while another stays, and a slot that moves. */
  private void useAll(List<String> rules) throws Exception {
    LockOptions options =
        LockOptions.builder()
            .lease(Duration.ofSeconds(5))
            .outageTimeout(Duration.ZERO)
            .subscriptionLinger(Duration.ZERO)
            .build();
    String uri = userWith(rules);
    try (LockClient one = LockClient.create(uri, options);
        LockClient two = LockClient.create(uri, options);
        TestThreads crew = new TestThreads()) {
      String name = Names.fresh();
      String beside = "it:{" + name + "}:b";
      Lease held = new RedisLock(one, name).tryAcquire().orElseThrow();
      Lease heldToo = new RedisLock(one, beside).tryAcquire().orElseThrow();
      DistributedLock lock = new RedisLock(two, name);
      Future<Boolean> woken = crew.ask(() -> lock.tryLock(Duration.ofSeconds(10)));
      await().until(() -> two.status().channels() == 1 || woken.isDone());
      new RedisLock(two, beside).tryLock(Duration.ofMillis(300));
      await().until(() -> two.status().channels() == 1 || woken.isDone()); // one is left
      held.close();
      assertTrue(woken.get());
      RedisServer from = servers.masterOf(name);
      RedisServer to = servers.nodes().stream().filter(n -> n != from).findFirst().orElseThrow();
      servers.moveSlot(name, to, () -> new RedisLock(one, name).isLocked());
      heldToo.close();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof LockException refused ? refused : e;
    }
  }
}
