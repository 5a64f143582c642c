package io.mortise.it.handoff;

import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.EngineTypes;
import io.mortise.it.support.SharedRedis;
import io.mortise.it.support.StackTraces;
import io.mortise.it.support.TestThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Threads that hold one lock in turn, and what each of them saw. */
final class Turns {
  private Turns() {}

  /** The holder in Redis and the fencing token, as a thread with the lock saw them. */
  record Turn(String holder, long token) {}

  /** Returns options with these limits of a hand-off, and channels that linger for a short time. */
  static LockOptions.Builder options(int maxHandOffs, Duration maxTime) {
    return LockOptions.builder()
        .tuning(t -> t.maxHandOffs(maxHandOffs))
        .tuning(t -> t.maxHandOffTime(maxTime))
        .tuning(t -> t.subscriptionLinger(Duration.ofMillis(100)));
  }

  /** Returns the one holder that a lock has in Redis, beside the mode of a read-write lock. */
  static String holder(SharedRedis redis, String name) {
    List<String> holders =
        redis.holders(name).stream()
            .map(String.class::cast)
            .filter(field -> !field.equals("mode"))
            .toList();
    assertEquals(1, holders.size(), holders::toString);
    return holders.get(0);
  }

  /** Starts threads that each lock, look, and unlock. */
  static List<Future<Turn>> start(
      TestThreads threads, SharedRedis redis, DistributedLock lock, int count) {
    List<Future<Turn>> turns = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      turns.add(
          threads.ask(
              () -> {
                lock.lock();
                try {
                  return new Turn(holder(redis, lock.name()), lock.lease().fencingToken());
                } finally {
                  lock.unlock();
                }
              }));
    }
    return turns;
  }

  /**
   * Waits until that many threads of this JVM are parked in a local queue. One that is only on its
   * way into it could still be overtaken.
   */
  static void awaitQueued(int count) {
    until(
        count + " threads are queued",
        () ->
            Thread.getAllStackTraces().entrySet().stream().filter(Turns::isQueued).count()
                == count);
  }

  private static boolean isQueued(Map.Entry<Thread, StackTraceElement[]> thread) {
    Thread.State state = thread.getKey().getState();
    return (state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING)
        && StackTraces.contain(thread.getValue(), EngineTypes.QUEUE);
  }

  /** Returns the turns in the order of their tokens, which must differ. */
  static List<Turn> inOrder(List<Future<Turn>> turns) throws Exception {
    List<Turn> all = new ArrayList<>();
    for (Future<Turn> each : turns) {
      all.add(each.get(20, TimeUnit.SECONDS));
    }
    all.sort(Comparator.comparingLong(Turn::token));
    assertEquals(all.size(), all.stream().map(Turn::token).distinct().count());
    return all;
  }

  /** Returns how many holds in Redis the turns had together. */
  static long holds(List<Turn> turns) {
    return turns.stream().map(Turn::holder).distinct().count();
  }
}
