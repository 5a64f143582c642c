package io.mortise.it.rwlock;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.JavaProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A child JVM of which so many threads lock at once when it is told {@code read} or {@code write},
 * and unlock when it is told {@code unlock}. It says {@code in <nanoTime>} for each.
 */
final class ReadersProcess {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private ReadersProcess() {}

  /** Arguments: URI, name, fair, lease in ms, threads, presence. */
  public static void main(String[] arguments) throws IOException {
    Duration lease = Duration.ofMillis(Long.parseLong(arguments[3]));
    List<StepThread> hands = new ArrayList<>();
    for (int i = 0; i < Integer.parseInt(arguments[4]); i++) {
      hands.add(new StepThread());
    }
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    try (LockClient client =
        LockClient.create(
            arguments[0], LockOptions.builder().lease(lease).maxHandOffs(0).build())) {
      boolean fair = Boolean.parseBoolean(arguments[2]);
      var lock = new RedisReadWriteLock(client, arguments[1], fair, Duration.parse(arguments[5]));
      DistributedLock side = lock.readLock();
      System.out.println("ready");
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.equals("unlock")) {
          DistributedLock held = side;
          hands.forEach(hand -> hand.tell(held::unlock));
        } else {
          side = line.equals("read") ? lock.readLock() : lock.writeLock();
          DistributedLock asked = side;
          hands.forEach(
              hand ->
                  hand.tell(
                      () -> {
                        asked.lock();
                        System.out.println("in " + System.nanoTime());
                      }));
        }
      }
    }
  }

  static JavaProcess start(TwoClients rig, String name, boolean fair, Duration lease, int threads)
      throws InterruptedException {
    return start(rig, name, fair, lease, threads, rig.presence);
  }

  static JavaProcess start(
      TwoClients rig, String name, boolean fair, Duration lease, int threads, Duration presence)
      throws InterruptedException {
    JavaProcess child =
        JavaProcess.start(
            ReadersProcess.class,
            rig.server.uri(),
            name,
            Boolean.toString(fair),
            Long.toString(lease.toMillis()),
            Integer.toString(threads),
            presence.toString());
    child.awaitLine("ready", PATIENCE);
    return child;
  }

  /** When the next of its threads had the lock. */
  static long awaitIn(JavaProcess child) throws InterruptedException {
    return Long.parseLong(child.awaitLine("in ", PATIENCE).split(" ", -1)[1]);
  }
}
