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
 * Stacks that overflow at any depth of an acquisition: its lock is free long before its lease ends.
 */
@Timeout(120)
class SmallStackTest {
  private static final int ROUNDS = 60;
  private static final long STACK_BYTES = 160_000;
  private static final int MAX_LEVELS = 100_000;

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

      assertFalse(locks.isEmpty(), "no acquisition overflowed its stack");
      for (RedisLock lock : locks) {
        Eventually.until("free: " + lock.name(), () -> !lock.isLocked());
      }
      assertEquals(0, client.status().holds());
      Eventually.until( // a worker that has released in the background may still read its reply
          "no connection is lent", () -> client.status().connectionsInUse() == 0);
    }
  }

  /** Returns whether the stack overflowed inside tryLock(), so that no caller has the hold. */
  private static boolean overflows(RedisLock lock, int pad) throws InterruptedException {
    AtomicBoolean inside = new AtomicBoolean();
    Thread thread =
        new Thread(
            null,
            () -> {
              try {
                descend(lock, pad, inside);
              } catch (StackOverflowError end) {
                // which is intended
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
    if (depth == MAX_LEVELS) {
      return;
    }
    if (depth % 10 == 0) {
      inside.setPlain(true);
      boolean held = lock.tryLock();
      inside.setPlain(false);
      if (held) {
        lock.unlock();
      }
      assertTrue(held, "no other thread has it");
    }
    deeper(lock, depth + 1, inside);
  }
}
