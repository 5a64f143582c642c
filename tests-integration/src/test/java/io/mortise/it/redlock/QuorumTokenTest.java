package io.mortise.it.redlock;

import static io.mortise.it.support.ProxiedServers.tokenKey;
import static io.mortise.it.support.ServerFault.CUT_OFF;
import static io.mortise.it.support.ServerFault.REFUSING;
import static io.mortise.it.support.ServerFault.RESTARTED_EMPTY;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockOptions;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.it.support.ServerFault;
import io.mortise.redlock.QuorumLease;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The fencing token rises from holder to holder, although each node has its own counter. */
@Timeout(120)
class QuorumTokenTest {
  @RegisterExtension static final FaultyNodes nodes = new FaultyNodes(5);

  private static final int ROUNDS = 100;

  /** An hour of the servers' clocks, so that no clock makes up for what a node does not know. */
  private static final long FAR = 3_600_000_000L;

  private static final LockOptions OPTIONS =
      LockOptions.builder()
          .lease(Duration.ofSeconds(30))
          .commandTimeout(Duration.ofSeconds(2))
          .build();

  /** Short, because a hold waits that long before it acquires a node that it is missing. */
  private static final Duration BUDGET = Duration.ofSeconds(1);

  private final String name = Names.fresh();

  /** Sets each counter ahead of its clock by a different number of hours. */
  private void spread() {
    long now = System.currentTimeMillis() * 1_000;
    for (int node = 0; node < nodes.count(); node++) {
      long ahead = now + FAR * (1 + node * 3 % 5);
      nodes.server(node).command("SET", tokenKey(name), Long.toString(ahead));
    }
  }

  private int nodesThatKnow(long token) {
    return (int)
        IntStream.range(0, nodes.count())
            .filter(i -> nodes.server(i).isRunning() && nodes.token(name, i) >= token)
            .count();
  }

  /**
   * A node returns without its data only while the lock is held, so that the hold restores its
   * counter: no counter may lag behind the others for longer than its node was away.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void itRisesFromHolderToHolderWhileMajoritiesChange(long seed) throws Exception {
    Random random = new Random(seed);
    List<List<Integer>> minorities = nodes.minorities();
    List<ServerFault> network =
        List.of(ServerFault.REFUSING, ServerFault.CUT_OFF, ServerFault.BREAKING);
    spread();
    long last = 0;
    QuorumClients one = nodes.proxied(OPTIONS, BUDGET);
    QuorumClients two = nodes.proxied(OPTIONS, BUDGET);
    for (int round = 0; round < ROUNDS; round++) {
      boolean restarts = round % 5 == 4;
      ServerFault fault = restarts ? ServerFault.KILLED : network.get(random.nextInt(3));
      List<Integer> minority = minorities.get(random.nextInt(minorities.size()));
      nodes.begin(fault, minority);
      QuorumLease lease = (round % 2 == 0 ? one : two).acquire(name);
      long before = last;
      last = lease.fencingToken();
      assertTrue(last > before, () -> "after " + before + " came " + lease);
      assertTrue(nodesThatKnow(last) >= 3, "a majority knows it before the caller does");
      nodes.restore(minority);
      if (restarts) {
        Eventually.until("all have it", () -> lease.validNodes() == 5);
        assertEquals(5, nodesThatKnow(last), "a late node knows it");
      }
      assertEquals(last, lease.fencingToken());
      lease.close();
    }
  }

  @Test
  void aNodeThatJoinsLateOrIsReacquiredKnowsTheToken() throws Exception {
    LockOptions brief = LockOptions.builder().lease(Duration.ofSeconds(6)).build();
    spread();
    QuorumClients here = nodes.proxied(brief, BUDGET);
    int highest = 3; // 1 + 3 * 3 % 5 hours ahead: the most of all
    nodes.begin(CUT_OFF, 0, 1);
    QuorumLease lease = here.acquire(name);
    long token = lease.fencingToken();
    assertEquals(nodes.token(name, highest), token);
    nodes.restore(0, 1);
    Eventually.until("all have it", () -> lease.validNodes() == 5);
    assertEquals(5, nodesThatKnow(token));
    nodes.begin(RESTARTED_EMPTY, 2, highest);
    Eventually.until("the empty nodes know it again", () -> nodesThatKnow(token) == 5);
    Eventually.until("all have it", () -> lease.validNodes() == 5);
    assertEquals(token, lease.fencingToken());
    lease.close();
  }

  /** The counter of a node may be higher than the token; the token of the hold stays. */
  @Test
  void aNodeThatJoinsLateWithAHigherTokenChangesNothing() throws Exception {
    QuorumClients here = nodes.proxied(OPTIONS, BUDGET);
    nodes.begin(REFUSING, 3);
    spread();
    QuorumLease lease = here.acquire(name);
    long token = lease.fencingToken();
    nodes.restore(3);
    Eventually.until("all have it", () -> lease.validNodes() == 5);
    assertEquals(token, lease.fencingToken());
    lease.close();
    nodes.awaitHolding(name, 0);
    QuorumLease next = here.acquire(name);
    assertTrue(next.fencingToken() > token);
    next.close();
  }
}
