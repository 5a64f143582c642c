package io.mortise.it.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockOptions;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.redlock.QuorumLease;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The fencing token rises from holder to holder, although each node counts for itself. */
@Timeout(60)
class QuorumTokenTest {
  private static final int ROUNDS = 100;

  /** An hour of the servers' clocks, so that no clock makes up for what a node does not know. */
  private static final long FAR = 3_600_000_000L;

  private static final LockOptions OPTIONS =
      LockOptions.builder()
          .lease(Duration.ofSeconds(30))
          .commandTimeout(Duration.ofMillis(300))
          .build();

  private static final Duration BUDGET = Duration.ofMillis(150);

  private final String name = Names.fresh();
  private FaultyNodes nodes;

  @BeforeEach
  void start() {
    nodes = FaultyNodes.start(5);
  }

  @AfterEach
  void stop() {
    nodes.close();
  }

  /** Sets the nodes' counters apart, each by another number of hours ahead of its clock. */
  private void spread() {
    long now = System.currentTimeMillis() * 1_000;
    for (int place = 0; place < nodes.count(); place++) {
      long ahead = now + FAR * (1 + place * 3 % 5);
      nodes.server(place).command("SET", FaultyNodes.tokenKey(name), Long.toString(ahead));
    }
  }

  private int nodesThatKnow(long token) {
    return (int)
        IntStream.range(0, nodes.count())
            .filter(i -> nodes.server(i).isRunning() && nodes.token(name, i) >= token)
            .count();
  }

  /**
   * A node that comes back without its data does so while the lock is held, which gives it back
   * what it has to know: no counter may stand behind the others' for longer than it was away.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void itRisesFromHolderToHolderWhileMajoritiesChange(long seed) throws Exception {
    Random random = new Random(seed);
    List<List<Integer>> minorities = NodeSets.subsets(5, 1, 2);
    List<NodeFault> network = List.of(NodeFault.REFUSING, NodeFault.CUT_OFF, NodeFault.BREAKING);
    spread();
    long last = 0;
    try (QuorumClients one = nodes.party(OPTIONS, BUDGET).warm();
        QuorumClients two = nodes.party(OPTIONS, BUDGET).warm()) {
      for (int round = 0; round < ROUNDS; round++) {
        boolean restarts = round % 5 == 4;
        NodeFault fault = restarts ? NodeFault.KILLED : network.get(random.nextInt(3));
        List<Integer> minority = minorities.get(random.nextInt(minorities.size()));
        nodes.begin(fault, minority);
        QuorumLease lease = (round % 2 == 0 ? one : two).take(name);
        long before = last;
        last = lease.fencingToken();
        assertTrue(last > before, () -> "after " + before + " came " + lease);
        assertTrue(nodesThatKnow(last) >= 3, "it stands on a majority before it is given out");
        nodes.end(fault, minority);
        if (restarts) {
          Eventually.until("all have it", () -> lease.validNodes() == 5);
          assertEquals(5, nodesThatKnow(last), "who comes late is told");
        }
        assertEquals(last, lease.fencingToken());
        lease.close();
      }
      nodes.awaitHolding(name, 0);
    }
  }

  @Test
  void aNodeThatJoinsLateOrIsTakenAgainKnowsTheToken() throws Exception {
    LockOptions brief = LockOptions.builder().lease(Duration.ofSeconds(3)).build();
    spread();
    try (QuorumClients here = nodes.party(brief, BUDGET).warm()) {
      int highest = 3; // 1 + 3 * 3 % 5 hours ahead: the most of all
      nodes.begin(NodeFault.CUT_OFF, List.of(0, 1));
      QuorumLease lease = here.take(name);
      long token = lease.fencingToken();
      assertEquals(nodes.token(name, highest), token);
      nodes.end(NodeFault.CUT_OFF, List.of(0, 1));
      Eventually.until("all have it", () -> lease.validNodes() == 5);
      assertEquals(5, nodesThatKnow(token));
      nodes.begin(NodeFault.RESTARTED_EMPTY, List.of(2, highest));
      Eventually.until("they are missed", () -> lease.validNodes() == 3);
      Eventually.until("all have it", () -> lease.validNodes() == 5);
      assertEquals(5, nodesThatKnow(token));
      assertEquals(token, lease.fencingToken());
      lease.close();
    }
  }

  /** A node's own counter may be higher than the token; the hold does not change its mind. */
  @Test
  void aNodeThatJoinsLateWithAHigherTokenChangesNothing() throws Exception {
    try (QuorumClients here = nodes.party(OPTIONS, BUDGET).warm()) {
      nodes.begin(NodeFault.REFUSING, List.of(3));
      spread();
      QuorumLease lease = here.take(name);
      long token = lease.fencingToken();
      nodes.end(NodeFault.REFUSING, List.of(3));
      Eventually.until("all have it", () -> lease.validNodes() == 5);
      assertEquals(token, lease.fencingToken());
      lease.close();
      nodes.awaitHolding(name, 0);
      assertTrue(here.take(name).fencingToken() > token);
    }
  }
}
