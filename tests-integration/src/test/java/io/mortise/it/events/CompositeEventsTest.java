package io.mortise.it.events;

import static io.mortise.core.LockEvent.Type.ACQUIRED;
import static io.mortise.core.LockEvent.Type.LOST;
import static io.mortise.core.LockEvent.Type.NOT_ACQUIRED;
import static io.mortise.core.LockEvent.Type.RELEASED;
import static io.mortise.core.LockEvent.Type.REQUESTED;
import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockEvent;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Names;
import io.mortise.it.support.ProxiedServers;
import io.mortise.multilock.MultiLock;
import io.mortise.redlock.QuorumLease;
import io.mortise.redlock.RedLock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Locks made of locks: the client of each member reports the member. */
@Timeout(120)
class CompositeEventsTest {
  private static final int NODES = 3;

  @RegisterExtension static final ProxiedServers servers = new ProxiedServers(NODES);

  private final List<EventLog> logs =
      IntStream.range(0, NODES).mapToObj(i -> new EventLog()).toList();
  private final List<LockClient> clients =
      IntStream.range(0, NODES)
          .mapToObj(i -> servers.client(servers.uris().get(i), logs.get(i).options().build()))
          .toList();
  private final String name = Names.fresh();

  private static Set<String> names(List<LockEvent> events) {
    return events.stream().map(event -> event.lockName().orElseThrow()).collect(Collectors.toSet());
  }

  @Test
  void theMembersOfOneRoundTripAreReportedEach() {
    EventLog log = logs.get(0);
    DistributedLock both =
        new MultiLock(
            new RedisLock(clients.get(0), name + ":a"), new RedisLock(clients.get(0), name + ":b"));
    both.lock();
    both.lock();
    both.unlock();
    long token = both.lease().fencingToken();
    both.unlock();

    log.await(REQUESTED, REQUESTED, ACQUIRED, ACQUIRED, RELEASED, RELEASED);
    assertEquals(Set.of(name + ":a", name + ":b"), names(log.of(RELEASED)));
    for (LockEvent event : log.all()) {
      assertEquals("lock", event.lockKind().orElseThrow());
    }
    for (LockEvent event : log.of(RELEASED)) {
      assertEquals(token, event.fencingToken().orElseThrow(), "that of all members");
    }
  }

  @Test
  void aBusyMemberOfOneRoundTripFailsAllOfThem() {
    EventLog log = logs.get(0);
    DistributedLock both =
        new MultiLock(
            new RedisLock(clients.get(0), name + ":a"), new RedisLock(clients.get(0), name + ":b"));
    try (LockClient other = LockClient.create(servers.uris().get(0));
        Lease busy = new RedisLock(other, name + ":b").tryAcquire().orElseThrow()) {
      assertTrue(busy.isValid());

      assertFalse(both.tryLock());

      log.await(REQUESTED, REQUESTED, NOT_ACQUIRED, NOT_ACQUIRED, REQUESTED, NOT_ACQUIRED);
      assertEquals(name + ":b", log.all().get(5).lockName().orElseThrow(), "asked again alone");
    }
  }

  @Test
  void theMembersOnSeveralServersAreReportedByTheirClients() {
    DistributedLock both =
        new MultiLock(new RedisLock(clients.get(0), name), new RedisLock(clients.get(1), name));
    both.lock();
    both.unlock();

    for (int i = 0; i < 2; i++) {
      for (LockEvent event : logs.get(i).await(REQUESTED, ACQUIRED, RELEASED)) {
        assertEquals(clients.get(i).id(), event.clientId());
        assertEquals(Thread.currentThread().getName(), event.threadName().orElseThrow());
      }
    }
  }

  @Test
  void aLostMemberIsLostAndTheOthersAreReleased() {
    DistributedLock both =
        new MultiLock(new RedisLock(clients.get(0), name), new RedisLock(clients.get(1), name));
    both.lock();

    assertTrue(new RedisLock(clients.get(0), name).forceUnlock());

    logs.get(0).await(REQUESTED, ACQUIRED, LOST);
    assertThrows(LeaseLostException.class, both::unlock);
    logs.get(1).await(REQUESTED, ACQUIRED, RELEASED);
  }

  @Test
  void eachNodeOfARedLockIsReportedByItsClient() {
    DistributedLock lock =
        RedLock.builder().members(name, clients).nodeWaitBudget(Duration.ofSeconds(5)).build();
    lock.lock();
    QuorumLease lease = (QuorumLease) lock.lease();
    until("all nodes hold", () -> lease.validNodes() == NODES);
    lock.unlock();

    for (int i = 0; i < NODES; i++) {
      LockEvent released = logs.get(i).await(RELEASED, 1).get(0);
      assertEquals(clients.get(i).id(), released.clientId());
      assertEquals(name, released.lockName().orElseThrow());
      assertEquals(Thread.currentThread().getName(), released.threadName().orElseThrow());
      assertEquals(
          List.of(REQUESTED, ACQUIRED, RELEASED),
          EventLog.types(logs.get(i).of(released.acquisition().orElseThrow())));
    }
  }
}
