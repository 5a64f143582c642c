package io.mortise.it.processes;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.core.DistributedLock;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.ChildJvm;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Pauses;
import io.mortise.testkit.JavaProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.time.Duration;

/**
 * A child JVM with one lock. It reads {@code lock} and {@code unlock}, and prints {@code locking},
 * {@code locked <token> <nanoTime>}, {@code unlocked <nanoTime>}; {@code notified <reason>} when
 * its listener is notified of a loss, and {@code lost <reason>} when {@code unlock()} throws it. To
 * {@code paused <from> <to>} it answers {@code paused <nanos>}.
 */
final class LockProcess {
  private LockProcess() {}

  /** Arguments: URI, name, lease in ms. */
  public static void main(String[] arguments) throws IOException {
    Duration lease = Duration.ofMillis(Long.parseLong(arguments[2]));
    LockOptions options = ChildJvm.options().lease(lease).build();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    try (Pauses pauses = Pauses.record();
        LockClient client = LockClient.create(arguments[0], options)) {
      DistributedLock lock = new RedisLock(client, arguments[1]);
      System.out.println("ready");
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String[] words = line.split(" ", -1);
        switch (words[0]) {
          case "lock" -> lock(lock);
          case "unlock" -> unlock(lock);
          default -> System.out.println("paused " + nanosWithin(pauses, words[1], words[2]));
        }
      }
    }
  }

  private static void lock(DistributedLock lock) {
    System.out.println("locking");
    lock.lock();
    long now = System.nanoTime();
    lock.lease().onLost(loss -> System.out.println("notified " + loss.reason()));
    System.out.println("locked " + lock.lease().fencingToken() + " " + now);
  }

  private static long nanosWithin(Pauses pauses, String from, String to) {
    return pauses.nanosWithin(Long.parseLong(from), Long.parseLong(to));
  }

  private static void unlock(DistributedLock lock) {
    try {
      long now = System.nanoTime();
      lock.unlock();
      System.out.println("unlocked " + now);
    } catch (LeaseLostException e) {
      System.out.println("lost " + e.loss().reason());
    }
  }

  /** The answer of the child when it has the lock. */
  record Locked(long token, long nanos) {}

  static JavaProcess start(String uri, String name, Duration lease) throws InterruptedException {
    JavaProcess child =
        ChildJvm.start(LockProcess.class, uri, name, Long.toString(lease.toMillis()));
    child.awaitLine("ready", Eventually.LIVENESS);
    return child;
  }

  static void lock(JavaProcess child) throws InterruptedException {
    child.send("lock");
    child.awaitLine("locking", Eventually.LIVENESS);
  }

  static Locked awaitLocked(JavaProcess child) throws InterruptedException {
    String[] words = child.awaitLine("locked ", Eventually.LIVENESS).split(" ", -1);
    return new Locked(Long.parseLong(words[1]), Long.parseLong(words[2]));
  }

  /** Unlocks, and returns the time just before. */
  static long unlock(JavaProcess child) throws InterruptedException {
    child.send("unlock");
    return Long.parseLong(child.awaitLine("unlocked ", Eventually.LIVENESS).split(" ", -1)[1]);
  }

  /** Returns for how much of that time the child did not run. */
  static long pausedNanos(JavaProcess child, long fromNanos, long toNanos)
      throws InterruptedException {
    child.send("paused " + fromNanos + " " + toNanos);
    return Long.parseLong(child.awaitLine("paused ", Eventually.LIVENESS).split(" ", -1)[1]);
  }
}
