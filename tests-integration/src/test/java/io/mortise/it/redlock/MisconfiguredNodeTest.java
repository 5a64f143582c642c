package io.mortise.it.redlock;

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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A minority that cannot be used does not stop a RedLock, and is not hidden by it either. */
@Timeout(60)
class MisconfiguredNodeTest {
  private static final LockOptions OPTIONS =
      LockOptions.builder().lease(Duration.ofSeconds(3)).build();

  @Test
  void aWrongPasswordIsToldAtOnceAndOnceForAllLocks() throws Exception {
    LoggedWarnings.note();
    try (RedisServer guarded = RedisServer.builder().config("requirepass", "right").start();
        RedisServer second = RedisServer.start();
        RedisServer third = RedisServer.start()) {
      String address = "127.0.0.1:" + guarded.port();
      List<LockClient> clients =
          List.of(
              LockClient.create("redis://:wrong@" + address, OPTIONS),
              LockClient.create(second.uri(), OPTIONS),
              LockClient.create(third.uri(), OPTIONS));
      try (QuorumClients party = new QuorumClients(clients, Duration.ofMillis(500))) {
        List<QuorumLease> leases = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
          leases.add(party.take(Names.fresh()));
        }
        Eventually.until("told", () -> !LoggedWarnings.about(address).isEmpty());
        // While it is tried again and again to take the node.
        Eventually.holdsFor(
            Duration.ofSeconds(3), "told once", () -> LoggedWarnings.about(address).size() == 1);
        String warning = LoggedWarnings.about(address).get(0);
        assertTrue(warning.contains("cannot be used, and locks go on without it"), warning);
        assertTrue(!warning.contains("wrong") || warning.contains("WRONGPASS"), warning);
        for (QuorumLease lease : leases) {
          assertEquals(2, lease.validNodes());
          lease.close();
        }
      }
    }
  }

  @Test
  void aNodeThatIsGoneIsToldWhenThatLasts() throws Exception {
    LoggedWarnings.note();
    try (FaultyNodes nodes = FaultyNodes.start(3);
        QuorumClients party = nodes.direct(OPTIONS, Duration.ofMillis(500)).warm()) {
      String address = "127.0.0.1:" + nodes.server(1).port();
      QuorumLease lease = party.takeEverywhere(Names.fresh());
      nodes.begin(NodeFault.KILLED, List.of(1));
      Eventually.until("missed", () -> lease.validNodes() == 2);
      Eventually.until(
          "told",
          () ->
              LoggedWarnings.about(address).stream()
                  .anyMatch(line -> line.contains("cannot be used")));
      nodes.end(NodeFault.KILLED, List.of(1));
      Eventually.until("taken again", () -> lease.validNodes() == 3);
      lease.close();
    }
  }
}
