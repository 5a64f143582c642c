package io.mortise.it.support;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.redlock.RedLock;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Callable;

/** Calls that rightly say that they do not know, because the machine stood still. */
public final class LateAnswer {
  /** The default budget of a node is 300 ms; the rest is for the clocks. */
  private static final Duration ALMOST_THE_BUDGET = Duration.ofMillis(250);

  /** A command timeout is 300 ms or more here; the rest is for the clocks. */
  private static final Duration ALMOST_A_COMMAND_TIMEOUT = Duration.ofMillis(250);

  /** The reply to the last command of a wait has 200 ms after it; the rest is for the clocks. */
  private static final Duration ALMOST_THE_LAST_REPLY = Duration.ofMillis(150);

  private static final int WAITS = 5;

  private static final Set<Reason> UNCONFIRMED = Set.of(Reason.UNREACHABLE, Reason.IN_DOUBT);

  private LateAnswer() {}

  /**
   * Returns what a bounded wait returns that ends without the lock. When the reply to its last
   * command comes too late, it throws that it does not know; then it is done again.
   *
   * @param wait how long the call waits
   */
  public static <T> T repeat(Duration wait, Callable<T> call) throws Exception {
    for (int more = WAITS - 1; more > 0; more--) {
      long start = System.nanoTime();
      try {
        return call.call();
      } catch (LockException late) {
        tolerate(late, start, wait.plus(ALMOST_THE_LAST_REPLY));
      }
    }
    return call.call();
  }

  /** Waits for the lock for that time; returns whether the wait ends with it. */
  public static boolean tryLock(DistributedLock lock, Duration wait) throws Exception {
    return repeat(wait, () -> lock.tryLock(wait));
  }

  /**
   * Runs the release of a lock. A RedLock whose majority does not answer within its default budget
   * says so, and goes on releasing in the background. One that held no more than a majority says
   * that its release is in doubt when a single node does not answer.
   */
  public static void release(DistributedLock lock, Runnable release) {
    long start = System.nanoTime();
    try {
      release.run();
    } catch (LockException late) {
      if (!(lock instanceof RedLock)) {
        throw late;
      }
      tolerate(late, start, ALMOST_THE_BUDGET, UNCONFIRMED);
    }
  }

  /**
   * Acquires a lock and releases it, once more with another lock when the reply to the release
   * comes after the command timeout, which says so, and goes on in the background.
   *
   * @param acquisition acquires a lock of a fresh name, and returns its release
   */
  public static void repeatRelease(Callable<Runnable> acquisition) {
    for (int more = WAITS - 1; more > 0; more--) {
      Runnable release = acquired(acquisition);
      long start = System.nanoTime();
      try {
        release.run();
        return;
      } catch (LockException late) {
        tolerate(late, start, ALMOST_A_COMMAND_TIMEOUT, UNCONFIRMED);
      }
    }
    acquired(acquisition).run();
  }

  private static Runnable acquired(Callable<Runnable> acquisition) {
    try {
      return acquisition.call();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Throws the exception again, unless it says that there was no answer, after a time in which
   * there is one when the machine does not stand still.
   *
   * @param sinceNanos when the call began, on the clock of {@link System#nanoTime()}
   * @param least the least time after which a call may say so
   */
  static void tolerate(LockException thrown, long sinceNanos, Duration least) {
    tolerate(thrown, sinceNanos, least, Set.of(Reason.UNREACHABLE));
  }

  private static void tolerate(
      LockException thrown, long sinceNanos, Duration least, Set<Reason> tolerable) {
    boolean late = System.nanoTime() - sinceNanos >= least.toNanos();
    if (!late || !tolerable.contains(thrown.reason())) {
      throw thrown;
    }
  }
}
