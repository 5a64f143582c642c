package io.mortise.core.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.core.DistributedLock;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;

class LeaseSourceTest {

  private static final class Leased extends LeaseBackedLock {
    Leased(LeaseSource source) {
      super(source);
    }
  }

  @Test
  void aLockThatIsMadeOfLeasesHasASource() {
    FakeSource source = new FakeSource("orders");

    assertSame(source, LeaseBackedLock.sourceOf(new Leased(source)));
    assertFalse(source.canAcquireTogetherWith(source), "it is no lock of an engine");
  }

  @Test
  void aWaitWithoutAnEndNeverReturnsWithoutTheLock() {
    FakeSource source = new FakeSource("orders");
    Leased lock = new Leased(source);

    assertThrows(AssertionError.class, lock::lock);
    assertThrows(AssertionError.class, lock::lockInterruptibly);
    assertThrows(AssertionError.class, lock::acquire);
    assertFalse(lock.tryLock());
  }

  @Test
  void aForeignLockIsRefusedWithWhatToDo() {
    DistributedLock foreign =
        (DistributedLock)
            Proxy.newProxyInstance(
                DistributedLock.class.getClassLoader(),
                new Class<?>[] {DistributedLock.class},
                (proxy, method, arguments) ->
                    method.getName().equals("undecorated") ? proxy : "orders");

    IllegalArgumentException thrown =
        assertThrows(IllegalArgumentException.class, () -> LeaseBackedLock.sourceOf(foreign));

    assertEquals(
        "lock 'orders' is a "
            + foreign.getClass().getName()
            + ", which is not made of leases; extend io.mortise.core.spi.LeaseBackedLock, or let a"
            + " decorator return undecorated() of its lock",
        thrown.getMessage());
  }
}
