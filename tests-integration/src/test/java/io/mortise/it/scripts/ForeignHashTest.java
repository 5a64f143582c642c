package io.mortise.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockException;
import io.mortise.core.LockInspection;
import io.mortise.it.support.Names;
import io.mortise.it.support.TwoClients;
import io.mortise.rwlock.RedisReadWriteLock;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A hash of somebody else that has a field "mode" stays as it is, and stops nobody. */
@Timeout(30)
class ForeignHashTest {
  @RegisterExtension static final TwoClients clients = new TwoClients();

  private final String name = Names.fresh();

  private void settings(String mode) {
    clients.server().command("HSET", name, "mode", mode, "theme", "x", "at", "1763846400000");
  }

  private void assertUntouched(String mode) {
    assertEquals(
        List.of("mode", mode, "theme", "x", "at", "1763846400000"),
        clients.server().command("HGETALL", name));
  }

  private List<DistributedLock> sides() {
    return Stream.of(
            new RedisReadWriteLock(clients.here(), name),
            RedisReadWriteLock.fair(clients.here(), name))
        .flatMap(lock -> Stream.of(lock.readLock(), lock.writeLock()))
        .toList();
  }

  private static void assertRefused(Executable call) {
    LockException refused = assertThrows(LockException.class, call);
    assertEquals(LockException.Reason.WRONG_TYPE, refused.reason(), refused::getMessage);
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "read", "write"})
  void aReadWriteLockRefusesIt(String mode) {
    settings(mode);
    for (DistributedLock side : sides()) {
      assertRefused(side::tryLock);
      assertRefused(side::lock);
      assertRefused(side::isLocked);
      assertRefused(side::forceUnlock);
      assertUntouched(mode);
    }
  }

  /** Its values are numbers, as counts of holds are, but larger than any of those. */
  @ParameterizedTest
  @ValueSource(ints = {20, 300})
  void theNumbersInALargeOneAreNoCountsOfHolds(int fields) {
    List<String> command = new ArrayList<>(List.of("HSET", name, "mode", "read"));
    for (int i = 0; i < fields; i++) {
      command.addAll(List.of("at" + i, "1763846400000"));
    }
    clients.server().command(command.toArray(String[]::new));
    DistributedLock reads = sides().get(0);

    if (reads.tryLock()) { // an attempt looks at a small hash only
      reads.unlock();
    }

    for (DistributedLock side : sides()) {
      assertRefused(side::isLocked);
      assertRefused(side::forceUnlock);
    }
    assertRefused(sides().get(1)::tryLock);
    assertRefused(sides().get(3)::tryLock);
    assertEquals((long) fields + 1, clients.server().command("HLEN", name));
  }

  /** Nobody could tell it from a hold that goes on. */
  @Test
  void aHoldThatEndsLeavesAHashThatSomebodyElseHasWrittenTo() {
    RedisReadWriteLock lock = new RedisReadWriteLock(clients.here(), name);
    lock.writeLock().lock();
    lock.readLock().lock();
    clients.server().command("HSET", name, "theme", "x");

    lock.readLock().unlock();
    lock.writeLock().unlock();

    assertEquals(List.of("mode", "theme"), clients.server().command("HKEYS", name));
    assertEquals(List.of(), clients.server().command("KEYS", "*{" + name + "}:*:rwlock_timeout:*"));
  }

  @Test
  void anInspectionShowsItsFieldsAndCountsNoKeysForThem() {
    settings("auto");

    LockInspection found = clients.here().lock(name).inspect();

    assertEquals(2, found.holders().size());
    assertEquals(1, found.holders().get(1).holdCount(), "a time is no hold count");
    assertUntouched("auto");
  }

  @Test
  void aCountThatIsNoneIsOne() {
    clients.server().command("HSET", name, "a", "-5", "b", "inf", "c", "nan", "d", "text");

    LockInspection found = clients.here().lock(name).inspect();

    assertFalse(found.holders().stream().anyMatch(holder -> holder.holdCount() < 1));
    assertEquals(4, found.holders().size());
  }
}
