package io.mortise.it.rwlock;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.RedisLock;
import io.mortise.it.contract.Rights;
import io.mortise.it.support.TwoClients;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;

/** A name in use as another type, and a user with the rights that the documentation names. */
@Timeout(60)
@Tag("redis-version")
class OtherTypesTest {
  @RegisterExtension
  static final TwoClients clients = ReadWriteFixture.clients(Duration.ofSeconds(30));

  @RegisterExtension
  final ReadWriteFixture locks = new ReadWriteFixture(clients, ReadWriteFixture.SHORT_TIMEOUT);

  @FairAndUnfair
  void aNameThatIsHeldAsAPlainLockIsRefusedToAReadWriteLock(boolean fair) {
    DistributedLock plain = new RedisLock(clients.here(), locks.name);
    RedisReadWriteLock lock = locks.there(fair);
    plain.lock();
    for (DistributedLock side : List.of(lock.readLock(), lock.writeLock())) {
      assertRefused(side::lock);
      assertRefused(side::tryLock);
      assertRefused(side::isLocked);
      assertRefused(side::forceUnlock);
    }
    assertTrue(plain.isHeldByCurrentThread());
    plain.unlock();
  }

  @FairAndUnfair
  void aNameThatIsHeldForReadingOrWritingIsRefusedToAPlainLock(boolean fair) {
    DistributedLock plain = new RedisLock(clients.here(), locks.name);
    RedisReadWriteLock lock = locks.there(fair);
    for (DistributedLock side : List.of(lock.readLock(), lock.writeLock())) {
      side.lock();
      assertRefused(plain::lock);
      assertRefused(plain::isLocked);
      assertRefused(plain::forceUnlock);
      assertTrue(side.isLocked());
      side.unlock();
    }
  }

  @FairAndUnfair
  void aWaiterWhoseNameBecomesAnotherTypeGetsAnErrorAndOtherWaitersAreNotAffected(boolean fair)
      throws Exception {
    RedisReadWriteLock lock = locks.here(fair);
    RedisReadWriteLock beside =
        ReadWriteFixture.lock(
            clients.here(), ReadWriteFixture.freshName(), fair, locks.waiterTimeout);
    lock.writeLock().lock();
    beside.writeLock().lock();
    Future<?> refused = locks.thread().begin(() -> lock.readLock().lock());
    Future<?> waits = locks.thread().begin(() -> beside.readLock().lock());
    locks.awaitWaiters(1);
    locks.awaitWaiters(beside.name(), 1);
    locks.server().command("SET", locks.name, "something else"); // in one step, so nobody acquires
    assertRefused(() -> StepThread.result(refused));
    await()
        .during(locks.waiterTimeout.multipliedBy(2))
        .atMost(ReadWriteFixture.SLACK)
        .until(() -> locks.waiters(beside.name()) == 1);
    beside.writeLock().unlock();
    StepThread.result(waits);
    locks.server().command("FLUSHALL");
  }

  private static void assertRefused(Executable call) {
    LockException refused = assertThrows(LockException.class, call);
    assertEquals(Reason.WRONG_TYPE, refused.reason(), refused::getMessage);
  }

  @Test
  void theDocumentedRightsAreEnough() throws Exception {
    locks.server().command(rules("reader").toArray(String[]::new));
    String uri = "redis://reader:x@%s:%d".formatted(locks.server().host(), locks.server().port());
    try (LockClient limited = LockClient.create(uri)) {
      for (String each : List.of(locks.name, "rw:{" + locks.name + "}:x")) {
        for (boolean fair : List.of(false, true)) {
          RedisReadWriteLock lock =
              ReadWriteFixture.lock(limited, each, fair, ReadWriteFixture.SHORT_TIMEOUT);
          lock.writeLock().lock();
          lock.readLock().lock();
          Future<?> reader = locks.thread().begin(() -> lock.readLock().lock());
          locks.awaitWaiters(each, 1);
          Future<?> writer = locks.thread().begin(() -> lock.writeLock().lock());
          locks.awaitWaiters(each, fair ? 2 : 1); // else it is in the client's local queue
          await() // for heartbeats
              .during(locks.waiterTimeout.dividedBy(2))
              .atMost(ReadWriteFixture.SLACK)
              .until(() -> !reader.isDone());
          assertFalse(lock.readLock().acquire(ReadWriteFixture.SLACK).isEmpty());
          lock.writeLock().unlock();
          lock.readLock().unlock();
          StepThread.result(reader);
          assertTrue(lock.readLock().forceUnlock());
          StepThread.result(writer);
          assertTrue(lock.writeLock().forceUnlock());
        }
      }
    }
  }

  /**
   * The rights that docs/wire.md names for read-write locks, and the names that these tests use.
   */
  private static List<String> rules(String user) throws Exception {
    List<String> rules =
        new ArrayList<>(List.of("ACL", "SETUSER", user, "reset", "on", ">x", "resetkeys"));
    rules.addAll(Rights.ofReadWriteLocks("rw:"));
    return rules;
  }
}
