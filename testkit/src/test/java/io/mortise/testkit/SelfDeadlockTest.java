package io.mortise.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.google.common.util.concurrent.Uninterruptibles;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A contract ends also on a lock that waits for itself. Takes half a minute. */
@Timeout(60)
class SelfDeadlockTest {

  /** As a lock that does not know its owner waits for itself: its tests would never end. */
  @Test
  void aLockThatWaitsForItselfForEverFails() {
    CountDownLatch end = new CountDownLatch(1);
    BrokenLocks.behave(
        (lock, method, args, call) -> {
          if (method.equals("lock") && lock.isHeldByCurrentThread()) {
            Uninterruptibles.awaitUninterruptibly(end);
          }
          return call.call();
        });
    try {
      long failed =
          assertTimeoutPreemptively(
              Duration.ofSeconds(50),
              () ->
                  BrokenLocks.failures(
                      BrokenLocks.ShortForms.class, "aViewWithALeaseIsTheSameLock"));
      assertEquals(1, failed);
    } finally {
      end.countDown();
    }
  }
}
