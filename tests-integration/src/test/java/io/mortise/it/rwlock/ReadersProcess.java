package io.mortise.it.rwlock;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.it.support.ChildJvm;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.JavaProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A child JVM whose threads all lock on the command {@code read} or {@code write}, and unlock on
 * {@code unlock}. It prints {@code in <nanoTime>} for each hold.
 */
final class ReadersProcess {
  static final Duration LEASE = Duration.ofMillis(1500);
  private static final Duration LIVENESS = Duration.ofSeconds(30);

  private ReadersProcess() {}

  /** Arguments: URI, name, fair, lease in ms, threads, waiter timeout. */
  public static void main(String[] arguments) throws IOException {
    Duration lease = Duration.ofMillis(Long.parseLong(arguments[3]));
    List<StepThread> workers = new ArrayList<>();
    for (int i = 0; i < Integer.parseInt(arguments[4]); i++) {
      workers.add(new StepThread());
    }
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    try (LockClient client =
        LockClient.create(
            arguments[0], ChildJvm.options().lease(lease).tuning(t -> t.maxHandOffs(0)).build())) {
      boolean fair = Boolean.parseBoolean(arguments[2]);
      Duration timeout = Duration.parse(arguments[5]);
      RedisReadWriteLock lock = ReadWriteFixture.lock(client, arguments[1], fair, timeout);
      DistributedLock side = lock.readLock();
      System.out.println("ready");
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.equals("unlock")) {
          DistributedLock held = side;
          workers.forEach(worker -> worker.execute(held::unlock));
        } else {
          side = line.equals("read") ? lock.readLock() : lock.writeLock();
          DistributedLock asked = side;
          workers.forEach(
              worker ->
                  worker.execute(
                      () -> {
                        asked.lock();
                        System.out.println("in " + System.nanoTime());
                      }));
        }
      }
    }
  }

  static JavaProcess start(ReadWriteFixture locks, boolean fair, int threads)
      throws InterruptedException {
    return start(locks, fair, LEASE, threads, locks.waiterTimeout);
  }

  static JavaProcess start(
      ReadWriteFixture locks, boolean fair, Duration lease, int threads, Duration waiterTimeout)
      throws InterruptedException {
    JavaProcess child =
        ChildJvm.start(
            ReadersProcess.class,
            locks.server().uri(),
            locks.name,
            Boolean.toString(fair),
            Long.toString(lease.toMillis()),
            Integer.toString(threads),
            waiterTimeout.toString());
    child.awaitLine("ready", LIVENESS);
    return child;
  }

  /** Returns when the next of its threads had the lock. */
  static long awaitIn(JavaProcess child) throws InterruptedException {
    return Long.parseLong(child.awaitLine("in ", LIVENESS).split(" ", -1)[1]);
  }
}
