package io.mortise.it.redlock;

import static io.mortise.it.support.Eventually.LIVENESS;
import static io.mortise.it.support.ServerFault.REFUSING;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockOptions;
import io.mortise.it.support.Names;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A node that was unreachable a moment ago is not asked at once, but its vote is not lost. */
@Timeout(60)
class UnreachableNodesTest {
  @RegisterExtension static final FaultyNodes nodes = new FaultyNodes(3);

  private static final LockOptions OPTIONS =
      LockOptions.builder().lease(Duration.ofMinutes(1)).build();

  /** The node that is unreachable. */
  private static final int OUT = 2;

  private final QuorumClients here = nodes.proxied(OPTIONS, LIVENESS);

  @Test
  void itIsRequestedAtOnceWhenTheOthersDoNotDecide() throws Exception {
    for (int round = 0; round < 10; round++) {
      nodes.begin(REFUSING, OUT);
      here.cycle(Names.fresh());
      String name = Names.fresh();
      nodes.holdAsStranger(name, 1);
      nodes.restore(OUT);

      assertTrue(here.lock(name).tryLock(), "two of three are free");

      assertEquals(Set.of(0, 1, OUT), nodes.holding(name));
      here.lock(name).unlock();
      nodes.server(1).command("DEL", name);
    }
  }
}
