package io.mortise.it.certainty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.support.ChildJvm;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.testkit.JavaProcess;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A heap that is full for a while ends no thread that the client needs. */
@Timeout(120)
@Tag("alone") // the garbage collector of that process uses all processors
class FullHeapTest {
  private static final Duration LIVENESS = Duration.ofSeconds(60);
  private static final Duration THREE_LEASES = Duration.ofSeconds(6);

  @Test
  void holdsAreRenewedAgainWhenThereIsRoom() throws Exception {
    String name = Names.fresh();
    try (RedisServer server = RedisServer.start();
        LockClient rival = LockClient.create(server.uri());
        JavaProcess process =
            ChildJvm.builder(FullHeapProcess.class)
                .jvmOptions("-Xmx20m")
                .arguments(server.uri(), name)
                .start()) {
      String full = process.awaitLine("full ", LIVENESS);
      assertTrue(Integer.parseInt(full.substring("full ".length())) > 0, "there was always room");
      process.awaitLine("acquired", LIVENESS);
      try {
        Eventually.holdsFor(
            THREE_LEASES,
            "what was acquired afterwards is renewed",
            () -> new RedisLock(rival, name + ":fresh").isLocked());
      } catch (RuntimeException lost) {
        throw new AssertionError(process.output(), lost);
      }
      process.send("go on");
      assertEquals("fresh HELD", process.awaitLine("fresh ", LIVENESS));
      assertEquals("unnoticed 0", process.awaitLine("unnoticed ", LIVENESS));
      assertEquals(0, process.awaitExit(LIVENESS));
    }
  }
}
