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
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A hash of somebody else that has a field "mode" stays as it is, and stops nobody. */
@Timeout(30)
class ForeignHashTest {
  @RegisterExtension static final TwoClients clients = new TwoClients();

  private final String name = Names.fresh();

  private void settings() {
    clients.server().command("HSET", name, "mode", "auto", "theme", "x", "at", "1763846400000");
  }

  private void assertUntouched() {
    assertEquals(
        List.of("mode", "auto", "theme", "x", "at", "1763846400000"),
        clients.server().command("HGETALL", name));
  }

  @Test
  void aReadWriteLockRefusesIt() {
    settings();
    for (RedisReadWriteLock lock :
        List.of(
            new RedisReadWriteLock(clients.here(), name),
            RedisReadWriteLock.fair(clients.here(), name))) {
      for (DistributedLock side : List.of(lock.readLock(), lock.writeLock())) {
        assertThrows(LockException.class, side::tryLock);
        assertUntouched();
      }
    }
  }

  @Test
  void anInspectionShowsItsFieldsAndCountsNoKeysForThem() {
    settings();

    LockInspection found = clients.here().lock(name).inspect();

    assertEquals(2, found.holders().size());
    assertEquals(1, found.holders().get(1).holdCount(), "a time is no hold count");
    assertUntouched();
  }

  @Test
  void aCountThatIsNoneIsOne() {
    clients.server().command("HSET", name, "a", "-5", "b", "inf", "c", "nan", "d", "text");

    LockInspection found = clients.here().lock(name).inspect();

    assertFalse(found.holders().stream().anyMatch(holder -> holder.holdCount() < 1));
    assertEquals(4, found.holders().size());
  }
}
