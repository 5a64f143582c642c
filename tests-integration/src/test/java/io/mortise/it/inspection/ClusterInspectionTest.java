package io.mortise.it.inspection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockInspection;
import io.mortise.core.LockInspection.Mode;
import io.mortise.core.LockInspection.Participant;
import io.mortise.core.LockInspection.Participant.Access;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.RedisCluster;
import io.mortise.testkit.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.RedisClusterClient;

/** Who holds a lock of a cluster and who waits for it, whichever master has its slot. */
@Timeout(60)
class ClusterInspectionTest {
  private static RedisCluster cluster;
  private static LockClient here;
  private static LockClient there;

  @BeforeAll
  static void start() {
    cluster = RedisCluster.builder().masters(3).replicas(0).start();
    String uri = String.join(",", cluster.uris()).replace(",redis://", ",");
    here = LockClient.create(uri);
    there = LockClient.create(uri);
  }

  @AfterAll
  static void stop() {
    there.close();
    here.close();
    cluster.close();
  }

  /** Returns a fresh name for each master, in one of its slots. */
  private static List<String> oneNameForEachMaster() {
    List<String> names = new ArrayList<>();
    for (RedisServer master : cluster.masters()) {
      names.add(
          Stream.generate(Names::fresh)
              .filter(name -> cluster.masterOf(name).port() == master.port())
              .findFirst()
              .orElseThrow());
    }
    return names;
  }

  private static Participant only(List<Participant> participants) {
    assertEquals(1, participants.size(), participants::toString);
    return participants.get(0);
  }

  private static AsyncCall<Boolean> waitFor(DistributedLock lock) {
    return AsyncCall.start(
        () -> {
          lock.lockInterruptibly();
          lock.unlock();
          return true;
        });
  }

  private static void giveUp(AsyncCall<Boolean> waiter) {
    waiter.interrupt();
    Eventually.until("it has given up", waiter::isDone);
  }

  /** The record of a client is a key of its own slot, which another master may have. */
  @Test
  void aPlainLockOfEachMasterNamesItsHolderAndTheHostOfItsClient() {
    try (RedisClusterClient jedis =
        RedisClusterClient.builder().nodes(cluster.hostPorts()).build()) {
      jedis.set("mortise_client:" + there.id(), "host=far-away\npid=4711\n");
    }
    for (String name : oneNameForEachMaster()) {
      try (Lease held = new RedisLock(there, name).tryAcquire().orElseThrow()) {
        LockInspection found = new RedisLock(here, name).inspect();

        assertEquals(Mode.EXCLUSIVE, found.mode());
        assertTrue(found.isComplete());
        assertEquals(OptionalLong.of(held.fencingToken()), found.lastToken());
        Participant holder = only(found.holders());
        assertEquals(Optional.of(there.id()), holder.clientId());
        assertEquals(Optional.of("far-away"), holder.host());
        assertEquals(OptionalLong.of(4711), holder.processId());
        assertTrue(holder.remaining().toMillis() > 5_000, holder::toString);
      }
      assertEquals(Mode.FREE, new RedisLock(here, name).inspect().mode());
    }
  }

  @Test
  void aFairLockOfEachMasterHasItsQueueInOrder() {
    for (String name : oneNameForEachMaster()) {
      RedisFairLock lock = new RedisFairLock(here, name);
      lock.lock();
      AsyncCall<Boolean> first = waitFor(new RedisFairLock(there, name));
      Eventually.until("one waits", () -> lock.queueLength() == 1);
      AsyncCall<Boolean> second = waitFor(lock);
      try {
        Eventually.until("two wait", () -> lock.queueLength() == 2);

        LockInspection found = new RedisLock(there, name).inspect();

        assertEquals(Optional.of(here.id()), only(found.holders()).clientId());
        assertEquals(2, found.queueLength());
        assertEquals(
            List.of(Optional.of(there.id()), Optional.of(here.id())),
            found.waiters().stream().map(Participant::clientId).toList());
      } finally {
        giveUp(second);
        giveUp(first);
        lock.unlock();
      }
    }
  }

  @Test
  void aReadWriteLockOfEachMasterHasReadersAndTheWriterThatWaits() {
    for (String name : oneNameForEachMaster()) {
      DistributedLock mine = new RedisReadWriteLock(here, name).readLock();
      DistributedLock theirs = new RedisReadWriteLock(there, name).readLock();
      mine.lock();
      theirs.lock();
      AsyncCall<Boolean> writer = waitFor(new RedisReadWriteLock(there, name).writeLock());
      try {
        Eventually.untilAsserted(
            "the writer waits",
            () -> {
              LockInspection found = mine.inspect();
              assertEquals(Mode.READ, found.mode());
              assertEquals(2, found.holders().size());
              found
                  .holders()
                  .forEach(
                      holder -> {
                        assertEquals(Access.READ, holder.access());
                        assertTrue(holder.remaining().toMillis() > 5_000, holder::toString);
                      });
              assertEquals(Access.WRITE, only(found.waiters()).access());
            });
      } finally {
        giveUp(writer);
        theirs.unlock();
        mine.unlock();
      }
      DistributedLock write = new RedisReadWriteLock(here, name).writeLock();
      write.lock();
      assertEquals(Mode.WRITE, new RedisReadWriteLock(there, name).readLock().inspect().mode());
      write.unlock();
    }
  }
}
