package io.mortise.spring.boot;

import io.mortise.core.Lease;
import io.mortise.spring.boot.internal.LeaseStack;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * The hold of the {@link Locked} method that the current thread runs: its fencing token, its state,
 * and its loss.
 *
 * <pre>{@code
 * @Locked(name = "stock:#{#article}")
 * public void sell(String article) {
 *   long token = CurrentLease.get().fencingToken();
 *   …
 * }
 * }</pre>
 *
 * <p>Of nested methods it is that of the innermost. Its {@code close()} is not for the method: the
 * lock is released after it.
 *
 * <p><b>In a test</b> without Spring nothing runs the method under its lock. {@link #runWith} and
 * {@link #callWith} give it a lease:
 *
 * <pre>{@code
 * try (Lease lease = client.lock("stock:shoe").acquire()) {
 *   CurrentLease.runWith(lease, () -> service.sell("shoe"));
 * }
 * }</pre>
 *
 * <p><b>Threads.</b> Each thread has its own. A method that goes on in another thread, or in a
 * later stage, takes the lease along: any thread may use it.
 */
public final class CurrentLease {
  private CurrentLease() {}

  /**
   * Returns the hold of the innermost {@link Locked} method that this thread runs.
   *
   * @throws IllegalStateException if it runs none: it was called on the object itself and not on
   *     the bean, or this is another thread
   */
  public static Lease get() {
    return LeaseStack.current()
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "this thread runs no @Locked method; call the method through its bean, and"
                        + " CurrentLease.get() on the thread that called it"));
  }

  /**
   * Runs the work as a {@link Locked} method with that hold: {@link #get} returns it on this thread
   * until the work has ended. Acquires and releases nothing.
   *
   * @param lease what {@link #get} returns; any, also one that is not valid
   */
  public static void runWith(Lease lease, Runnable work) {
    Objects.requireNonNull(lease, "lease");
    Objects.requireNonNull(work, "work");
    LeaseStack.push(lease);
    try {
      work.run();
    } finally {
      LeaseStack.pop();
    }
  }

  /**
   * As {@link #runWith}, with a result.
   *
   * @throws Exception what the work throws
   */
  public static <T extends @Nullable Object> T callWith(Lease lease, Callable<T> work)
      throws Exception {
    Objects.requireNonNull(lease, "lease");
    Objects.requireNonNull(work, "work");
    LeaseStack.push(lease);
    try {
      return work.call();
    } finally {
      LeaseStack.pop();
    }
  }
}
