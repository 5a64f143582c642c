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
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A name in use as another type, and a user with the rights that the documentation names. */
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
@Timeout(60)
@Tag("redis-version")
class OtherTypesTest {
  private static TwoClients rig;

  private final String name = TwoClients.freshName();

  @BeforeAll
  static void start() {
    rig = new TwoClients(Duration.ofSeconds(30), TwoClients.SHORT_PRESENCE);
  }

  @AfterAll
  static void stop() {
    rig.close();
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void aNameThatIsHeldAsAPlainLockIsRefused(boolean fair) {
    DistributedLock plain = new RedisLock(rig.here, name);
    RedisReadWriteLock lock = rig.there(name, fair);
    plain.lock();
    for (DistributedLock side : List.of(lock.readLock(), lock.writeLock())) {
      assertRefused(side::lock);
      assertRefused(side::tryLock);
      assertRefused(side::isLocked);
      assertRefused(side::forceUnlock);
    }
    assertTrue(plain.isHeldByCurrentThread());
    plain.unlock();
    assertEquals(List.of(), rig.keys(name));
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void aNameThatIsHeldForReadingOrWritingIsRefusedToAPlainLock(boolean fair) {
    DistributedLock plain = new RedisLock(rig.here, name);
    RedisReadWriteLock lock = rig.there(name, fair);
    for (DistributedLock side : List.of(lock.readLock(), lock.writeLock())) {
      side.lock();
      assertRefused(plain::lock);
      assertRefused(plain::isLocked);
      assertRefused(plain::forceUnlock);
      assertTrue(side.isLocked());
      side.unlock();
    }
    assertEquals(List.of(), rig.keys(name));
  }

  @ParameterizedTest(name = "fair: {0}")
  @ValueSource(booleans = {false, true})
  void aWaiterWhoseNameBecomesAnotherTypeIsToldAndOthersWaitOn(boolean fair) throws Exception {
    RedisReadWriteLock lock = rig.here(name, fair);
    RedisReadWriteLock beside = rig.here(TwoClients.freshName(), fair);
    lock.writeLock().lock();
    beside.writeLock().lock();
    try (StepThread one = new StepThread();
        StepThread two = new StepThread()) {
      Future<?> refused = one.begin(() -> lock.readLock().lock());
      Future<?> waits = two.begin(() -> beside.readLock().lock());
      rig.awaitWaiters(name, 1);
      rig.awaitWaiters(beside.name(), 1);
      rig.server.command("DEL", name);
      rig.server.command("SET", name, "something else");
      assertRefused(() -> StepThread.result(refused));
      await()
          .during(rig.presence.multipliedBy(2))
          .atMost(TwoClients.SLACK)
          .until(() -> rig.waiters(beside.name()) == 1);
      beside.writeLock().unlock();
      StepThread.result(waits);
    }
    rig.server.command("DEL", name);
  }

  private static void assertRefused(Executable call) {
    LockException refused = assertThrows(LockException.class, call);
    assertEquals(Reason.WRONG_TYPE, refused.reason(), refused::getMessage);
  }

  @Test
  void theDocumentedRightsAreEnough() throws Exception {
    rig.server.command(rules("reader").toArray(String[]::new));
    String uri = "redis://reader:x@%s:%d".formatted(rig.server.host(), rig.server.port());
    try (LockClient limited = LockClient.create(uri)) {
      for (String each : List.of(name, "rw:{" + name + "}:x")) {
        for (boolean fair : List.of(false, true)) {
          RedisReadWriteLock lock =
              new RedisReadWriteLock(limited, each, fair, Duration.ofMillis(200));
          lock.writeLock().lock();
          lock.readLock().lock();
          try (StepThread hand = new StepThread();
              StepThread second = new StepThread()) {
            Future<?> reader = hand.begin(() -> lock.readLock().lock());
            rig.awaitWaiters(each, 1);
            Future<?> writer = second.begin(() -> lock.writeLock().lock());
            rig.awaitWaiters(each, fair ? 2 : 1); // otherwise it stands in the client's line
            assertFalse(lock.readLock().acquire(Duration.ofMillis(200)).isEmpty());
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
  }

  /** All rights that docs/wire.md names, for the names that these tests use. */
  private static List<String> rules(String user) throws Exception {
    List<String> rules =
        new ArrayList<>(List.of("ACL", "SETUSER", user, "reset", "on", ">x", "resetkeys"));
    rules.addAll(Rights.ofAllFamilies("rw:"));
    return rules;
  }
}
