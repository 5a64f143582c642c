package io.mortise.it.leases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.multilock.MultiLock;
import io.mortise.redlock.QuorumLease;
import io.mortise.redlock.RedLock;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A server restarts without its data while a lock is held, and the client notices it only by the
 * broken connection of its release: the release throws.
 */
@Timeout(60)
class RestartedBeforeReleaseTest {
  /** Long enough for a new connection on a busy machine. */
  private static final Duration LIVENESS = Duration.ofSeconds(7);

  private final List<RedisServer> servers = new ArrayList<>();
  private final List<LockClient> clients = new ArrayList<>();
  private final String name = Names.fresh();

  private void start(int count) {
    for (int i = 0; i < count; i++) {
      RedisServer server = RedisServer.start();
      servers.add(server);
      clients.add(LockClient.create(server.uri()));
    }
  }

  private void restartEmpty(int... which) {
    for (int i : which) {
      servers.get(i).restartEmpty();
    }
  }

  @AfterEach
  void stop() {
    clients.forEach(LockClient::close);
    servers.forEach(RedisServer::close);
  }

  private static void assertInDoubt(LockException thrown) {
    assertEquals(Reason.IN_DOUBT, thrown.reason(), thrown::getMessage);
  }

  @ParameterizedTest
  @EnumSource
  void theReleaseOfALostHoldThrows(SingleServerLock kind) {
    start(1);
    DistributedLock lock = kind.of(clients.get(0), name);
    lock.lock();
    restartEmpty(0);

    assertInDoubt(assertThrows(LockException.class, lock::unlock));

    assertFalse(lock.isHeldByCurrentThread());
    assertTrue(lock.tryLock(), "it is free");
    lock.unlock();
  }

  @Test
  void aServerThatHasKeptItsDataReleasesTheHold() {
    start(1);
    RedisLock lock = new RedisLock(clients.get(0), name);
    lock.lock();
    servers.get(0).command("SAVE");
    servers.get(0).restart();

    lock.unlock();

    assertEquals(0L, servers.get(0).command("EXISTS", name));
  }

  @Test
  void theReleaseOfAMultiLockThrowsIfOneMemberIsLost() throws Exception {
    start(2);
    MultiLock lock =
        new MultiLock(new RedisLock(clients.get(0), name), new RedisLock(clients.get(1), name));
    Lease lease = lock.tryAcquire().orElseThrow();
    restartEmpty(1);

    assertInDoubt(assertThrows(LockException.class, lease::close));

    assertEquals(0L, servers.get(0).command("EXISTS", name), "the other one is released");
  }

  @Test
  void theReleaseOfAQuorumIsSilentIfAMajorityIsLeft() throws Exception {
    QuorumLease lease = quorum();
    restartEmpty(2);

    lease.close();
  }

  @Test
  void theReleaseOfAQuorumThrowsIfNoMajorityIsLeft() throws Exception {
    QuorumLease lease = quorum();
    restartEmpty(0, 2);

    assertInDoubt(assertThrows(LockException.class, lease::close));

    assertEquals(0L, servers.get(1).command("EXISTS", name), "the other one is released");
  }

  private QuorumLease quorum() throws Exception {
    start(3);
    RedLock lock = RedLock.builder().members(name, clients).nodeWaitBudget(LIVENESS).build();
    lock.tryAcquire().orElseThrow().close(); // connects
    QuorumLease lease = (QuorumLease) lock.tryAcquire().orElseThrow();
    Eventually.until("all nodes hold it", () -> lease.validNodes() == 3);
    return lease;
  }
}
