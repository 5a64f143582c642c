package io.mortise.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.mortise.core.DistributedLock;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/**
 * A test of one lock by two clients, under a new name each time.
 *
 * <p><b>Threads.</b> JUnit runs a test on one thread of its own, which it leaves if the lock keeps
 * it for ever; {@code actor} is another one.
 */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // lock() ignores interrupts
@SuppressWarnings("LockNotBeforeTry") // a test of holds, which it checks one by one
abstract class AbstractLockContract implements LockFamily {
  String name;
  DistributedLock lock;
  DistributedLock other;
  TestThread actor;

  @BeforeEach
  final void freshName() {
    name = "contract:" + UUID.randomUUID();
    lock = lock(name);
    other = otherProcess(name);
    actor = new TestThread("actor of " + name);
  }

  @AfterEach
  final void closeActor() {
    actor.close();
  }

  /** Asserts that a view is the same lock as the lock itself; leaves it released. */
  final void assertSameLock(DistributedLock view) {
    assertEquals(lock, view);
    assertEquals(lock.hashCode(), view.hashCode());
    assertEquals(lock.name(), view.name());
    view.lock();
    lock.lock();
    assertEquals(2, lock.holdCount());
    assertSame(lock.lease(), view.lease());
    view.unlock();
    assertEquals(1, view.holdCount());
    lock.unlock();
    assertEquals(0, lock.holdCount());
  }
}
