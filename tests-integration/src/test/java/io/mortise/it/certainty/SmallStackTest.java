package io.mortise.it.certainty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.multilock.MultiLock;
import io.mortise.testkit.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Stacks that overflow at any depth of an acquisition: its lock is free long before its lease ends.
 */
@Timeout(120)
class SmallStackTest {
  private static final int ROUNDS = 60;
  private static final long STACK_BYTES = 160_000;
  private static final int MAX_LEVELS = 100_000;

  /** A lock of each kind whose acquisition has a clean-up of its own. */
  @SuppressWarnings("ImmutableEnumChecker") // the functions have no state
  enum Kind {
    ONE(RedisLock::new),
    GROUP(
        (client, name) ->
            new MultiLock(new RedisLock(client, name + ":a"), new RedisLock(client, name + ":b")));

    private final BiFunction<LockClient, String, DistributedLock> factory;

    Kind(BiFunction<LockClient, String, DistributedLock> factory) {
      this.factory = factory;
    }
  }

  @ParameterizedTest
  @EnumSource
  void anAcquisitionThatOverflowsTheStackLeavesNoLock(Kind kind) throws Exception {
    try (RedisServer server = RedisServer.start();
        LockClient client = LockClient.create(server.uri())) {
      List<DistributedLock> locks = new ArrayList<>();
      for (int round = 0; round < ROUNDS; round++) {
        DistributedLock lock = kind.factory.apply(client, Names.fresh());
        if (overflows(lock, round % 30)) {
          locks.add(lock);
        }
      }

      assertFalse(locks.isEmpty(), "no acquisition overflowed its stack");
      for (DistributedLock lock : locks) {
        Eventually.until("free: " + lock.name(), () -> !lock.isLocked());
      }
      assertEquals(0, client.status().holds());
      Eventually.until("no local queue is closed", () -> client.status().contended() == 0);
      Eventually.until( // a worker that has released in the background may still read its reply
          "no connection is lent", () -> client.status().connectionsInUse() == 0);
    }
  }

  /** Returns whether the stack overflowed inside tryLock(), so that no caller has the hold. */
  private static boolean overflows(DistributedLock lock, int pad) throws InterruptedException {
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

  private static void descend(DistributedLock lock, int pad, AtomicBoolean inside) {
    if (pad > 0) {
      descend(lock, pad - 1, inside);
    } else {
      deeper(lock, 0, inside);
    }
  }

  /** Locks at every tenth level, until there is no room for it. */
  private static void deeper(DistributedLock lock, int depth, AtomicBoolean inside) {
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
