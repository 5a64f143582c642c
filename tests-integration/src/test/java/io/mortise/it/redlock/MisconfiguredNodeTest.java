package io.mortise.it.redlock;

import static io.mortise.it.support.ServerFault.KILLED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.LoggedWarnings;
import io.mortise.it.support.Names;
import io.mortise.redlock.QuorumLease;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A minority that cannot be used does not stop a RedLock, but is reported. */
@Timeout(60)
class MisconfiguredNodeTest {
  @RegisterExtension static final FaultyNodes nodes = new FaultyNodes(3);

  private static final LockOptions OPTIONS =
      LockOptions.builder().lease(Duration.ofSeconds(3)).build();

  @BeforeAll
  static void recordWarnings() {
    LoggedWarnings.note();
  }

  @Test
  void aWrongPasswordIsReportedAtOnceAndOnceForAllLocks() throws Exception {
    try (RedisServer guarded = RedisServer.builder().config("requirepass", "right").start()) {
      String address = "127.0.0.1:" + guarded.port();
      List<LockClient> clients =
          List.of(
              nodes.client("redis://:wrong@" + address, OPTIONS),
              nodes.client(nodes.server(0).uri(), OPTIONS),
              nodes.client(nodes.server(1).uri(), OPTIONS));
      QuorumClients here = new QuorumClients(clients, Duration.ofSeconds(2));
      List<QuorumLease> leases = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        leases.add(here.acquire(Names.fresh()));
      }
      Eventually.until("reported", () -> !LoggedWarnings.about(address).isEmpty());
      // During repeated attempts to reacquire the node.
      Eventually.holdsFor(
          Duration.ofSeconds(3), "reported once", () -> LoggedWarnings.about(address).size() == 1);
      String warning = LoggedWarnings.about(address).get(0);
      assertTrue(warning.contains("cannot be used, and locks go on without it"), warning);
      assertTrue(!warning.contains("wrong") || warning.contains("WRONGPASS"), warning);
      for (QuorumLease lease : leases) {
        assertEquals(2, lease.validNodes());
        lease.close();
      }
    }
  }

  @Test
  void aMissingNodeIsReportedWhenTheOutageLasts() throws Exception {
    QuorumClients here = nodes.direct(OPTIONS, Duration.ofSeconds(2));
    String address = "127.0.0.1:" + nodes.server(1).port();
    QuorumLease lease = here.acquireEverywhere(Names.fresh());
    nodes.begin(KILLED, 1);
    Eventually.until("missed", () -> lease.validNodes() == 2);
    Eventually.until(
        "reported",
        () ->
            LoggedWarnings.about(address).stream()
                .anyMatch(line -> line.contains("cannot be used")));
    nodes.restore(1);
    Eventually.until("reacquired", () -> lease.validNodes() == 3);
    lease.close();
  }
}
