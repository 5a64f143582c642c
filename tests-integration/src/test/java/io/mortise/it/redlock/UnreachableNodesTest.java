package io.mortise.it.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockOptions;
import io.mortise.it.support.Names;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A node that could not be reached just now is not asked at once; but its vote is not lost. */
@Timeout(60)
class UnreachableNodesTest {
  private static final LockOptions OPTIONS =
      LockOptions.builder().lease(Duration.ofMinutes(1)).build();

  /** The node that is out. */
  private static final int OUT = 2;

  private static FaultyNodes nodes;
  private static QuorumClients party;

  @BeforeAll
  static void start() throws Exception {
    nodes = FaultyNodes.start(3);
    party = nodes.party(OPTIONS, QuorumClients.LIVENESS).warm();
  }

  @AfterAll
  static void stop() {
    party.close();
    nodes.close();
  }

  @AfterEach
  void restore() {
    nodes.restore();
  }

  @Test
  void itIsAskedAtOnceWhenTheOthersDoNotDecide() throws Exception {
    for (int round = 0; round < 10; round++) {
      nodes.begin(NodeFault.REFUSING, List.of(OUT));
      party.pass(Names.fresh());
      String name = Names.fresh();
      nodes.holdAsStranger(name, 1);
      nodes.end(NodeFault.REFUSING, List.of(OUT));

      assertTrue(party.lock(name).tryLock(), "two of three are free");

      assertEquals(Set.of(0, 1, OUT), nodes.holding(name));
      party.lock(name).unlock();
      nodes.server(1).command("DEL", name);
    }
  }
}
