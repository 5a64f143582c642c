package io.mortise.testkit;

import io.mortise.core.DistributedLock;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/** A test of one lock by two clients, under a new name each time. */
@Timeout(30)
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
}
