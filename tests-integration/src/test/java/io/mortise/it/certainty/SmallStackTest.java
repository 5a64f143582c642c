package io.mortise.it.certainty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.testkit.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Threads whose stacks overflow at any depth of an acquisition: nobody has the lock after that, and
 * it is free long before its lease ends.
 */
@Timeout(120)
class SmallStackTest {
  private static final int ROUNDS = 60;
  private static final long STACK_BYTES = 160_000;
  private static final int MOST_LEVELS = 100_000;

  @Test
  void anAcquisitionThatOverflowsTheStackLeavesNoLock() throws Exception {
    try (RedisServer server = RedisServer.start();
        LockClient client = LockClient.create(server.uri())) {
      List<RedisLock> locks = new ArrayList<>();
      for (int round = 0; round < ROUNDS; round++) {
        RedisLock lock = new RedisLock(client, Names.fresh());
        if (overflows(lock, round % 30)) {
          locks.add(lock);
        }
      }

      assertFalse(locks.isEmpty(), "no acquisition met the end of its stack");
      for (RedisLock lock : locks) {
        Eventually.until("nobody holds " + lock.name(), () -> !lock.isLocked());
      }
      assertEquals(0, client.status().holds());
      assertEquals(0, client.status().connectionsInUse());
    }
  }

  /**
   * Whether the stack overflowed inside tryLock(): what it returns to its caller is the caller's.
   */
  private static boolean overflows(RedisLock lock, int pad) throws InterruptedException {
    AtomicBoolean inside = new AtomicBoolean();
    Thread thread =
        new Thread(
            null,
            () -> {
              try {
                descend(lock, pad, inside);
              } catch (StackOverflowError end) {
                // That is what it is for.
              }
            },
            "small stack",
            STACK_BYTES);
    thread.start();
    thread.join();
    return inside.get();
  }

  private static void descend(RedisLock lock, int pad, AtomicBoolean inside) {
    if (pad > 0) {
      descend(lock, pad - 1, inside);
    } else {
      deeper(lock, 0, inside);
    }
  }

  /** Locks at every tenth level, until there is no room for it. */
  private static void deeper(RedisLock lock, int depth, AtomicBoolean inside) {
    if (depth == MOST_LEVELS) {
      return;
    }
    if (depth % 10 == 0) {
      inside.setPlain(true);
      boolean held = lock.tryLock();
      inside.setPlain(false);
      if (held) {
        lock.unlock();
      }
      assertTrue(held, "nobody else wants it");
    }
    deeper(lock, depth + 1, inside);
  }
}
