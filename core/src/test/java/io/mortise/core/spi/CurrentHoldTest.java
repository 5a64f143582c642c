package io.mortise.core.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.core.DistributedLock;
import io.mortise.core.LeaseLostException;
import java.lang.reflect.Proxy;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a decorator asks about the hold of its thread. */
@Timeout(60)
class CurrentHoldTest {
  private final FakeLease lease = new FakeLease("orders");
  private final FakeSource source = new FakeSource("orders", lease);
  private final DistributedLock lock = LeaseBackedLock.of(source);

  @Test
  void aThreadIsToldOfNoLoss() {
    assertEquals(Optional.empty(), CurrentHold.of(lock));
    lock.lock();
    assertSame(lease, CurrentHold.of(lock).orElseThrow());
    lease.lose();

    assertSame(lease, CurrentHold.of(lock).orElseThrow());

    assertThrows(LeaseLostException.class, lock::lock);
    assertEquals(Optional.empty(), CurrentHold.of(lock), "now the thread knows");
    assertThrows(LeaseLostException.class, lock::unlock);
  }

  /** As a decorator of the user's that does not say what it decorates. */
  @Test
  void ofALockOfAnotherKindItIsTheValidHold() {
    DistributedLock decorated =
        (DistributedLock)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {DistributedLock.class},
                (proxy, method, arguments) ->
                    method.getName().equals("undecorated")
                        ? proxy
                        : method.invoke(lock, arguments));
    assertEquals(Optional.empty(), CurrentHold.of(decorated));
    lock.lock();

    assertSame(lease, CurrentHold.of(decorated).orElseThrow());

    lock.unlock();
  }
}
