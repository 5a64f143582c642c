package io.mortise.it.certainty;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A JVM whose small heap is full for some seconds, and has room afterwards. */
final class FullHeapProcess {
  private static final int HOLDS = 300;
  private static final long FULL_NANOS = 4_000_000_000L;
  private static final Duration LEASE = Duration.ofSeconds(2);

  private FullHeapProcess() {}

  /** Arguments: URI, name. */
  public static void main(String[] arguments) throws Exception {
    LockOptions options = LockOptions.builder().lease(LEASE).build();
    try (LockClient client = LockClient.create(arguments[0], options)) {
      List<Lease> leases = new ArrayList<>();
      for (int i = 0; i < HOLDS; i++) {
        leases.add(new RedisLock(client, arguments[1] + ":" + i).tryAcquire().orElseThrow());
      }
      System.out.println("full " + fill());
      Lease fresh = acquire(client, arguments[1] + ":fresh");
      System.out.println("acquired");
      int in = System.in.read(); // until the test has waited for some leases
      System.out.println((in < 0 ? "closed " : "fresh ") + fresh.state());
      fresh.close();
      try (LockClient other = LockClient.create(arguments[0], options)) {
        long unnoticed = 0; // losses of which the lease does not know
        for (int i = 0; i < HOLDS; i++) {
          boolean locked = new RedisLock(other, arguments[1] + ":" + i).isLocked();
          unnoticed += leases.get(i).isValid() && !locked ? 1 : 0;
        }
        System.out.println("unnoticed " + unnoticed);
      }
    }
  }

  private static Lease acquire(LockClient client, String name) throws InterruptedException {
    while (true) {
      try {
        return new RedisLock(client, name).acquire(Duration.ofSeconds(20)).orElseThrow();
      } catch (OutOfMemoryError stillFull) {
        System.gc();
      }
    }
  }

  /** Keeps the heap full for a while; returns how often an allocation failed. */
  @SuppressWarnings("unused") // the blocks are there to take room
  private static int fill() {
    byte[][] blocks = new byte[200_000][];
    int count = 0;
    int failures = 0;
    long endNanos = System.nanoTime() + FULL_NANOS;
    while (System.nanoTime() - endNanos < 0) {
      try {
        blocks[count] = new byte[count % 7 == 0 ? 64 : 2_000];
        count = (count + 1) % blocks.length;
      } catch (OutOfMemoryError full) {
        failures++;
        try {
          while (count < blocks.length) {
            blocks[count] = new byte[16];
            count++;
          }
        } catch (OutOfMemoryError fuller) {
          Thread.onSpinWait();
        }
        count = Math.min(count, blocks.length - 1);
        if (failures % 50 == 0) {
          for (int i = 0; i < 50 && count > 0; i++) {
            blocks[--count] = null;
          }
        }
      }
    }
    return failures;
  }
}
