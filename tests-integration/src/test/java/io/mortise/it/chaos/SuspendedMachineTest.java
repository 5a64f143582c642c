package io.mortise.it.chaos;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.support.ChildJvm;
import io.mortise.testkit.JavaProcess;
import io.mortise.testkit.RedisServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process on a machine that was suspended while its monotonic clock stood still: the lease has
 * ended in Redis, and no deadline has passed here.
 */
@Timeout(90)
class SuspendedMachineTest {
  private static final String NAME = "it:suspended";
  private static final Duration START = Duration.ofMinutes(1);

  /** The first renewal, which would find out too, comes 10 s after the acquisition. */
  private static final Duration BEFORE_A_RENEWAL = Duration.ofSeconds(6);

  @Test
  void theLossIsReportedSoonAfterItWakesNotAtTheNextRenewal(@TempDir Path directory)
      throws InterruptedException {
    assumeTrue(PreloadedLibrary.CLOCK.isAvailable(), "no C compiler");
    WallClock clock = new WallClock(directory);
    try (RedisServer server = RedisServer.start();
        JavaProcess holder =
            clock.on(ChildJvm.builder(Holder.class).arguments(server.uri())).start()) {
      holder.awaitLine("held", START);

      server.command("DEL", NAME); // as Redis does when the lease ends
      clock.step(Duration.ofHours(1));

      holder.awaitLine("lost", BEFORE_A_RENEWAL);
    }
  }

  /** Holds a lock until its input ends. */
  static final class Holder {
    private Holder() {}

    public static void main(String[] arguments) throws IOException {
      try (LockClient client = LockClient.create(arguments[0], ChildJvm.options().build())) {
        Lease lease = new RedisLock(client, NAME).tryAcquire().orElseThrow();
        lease.onLost(loss -> System.out.println("lost: " + loss));
        System.out.println("held");
        int end = System.in.read();
        System.out.println("end " + end);
      }
    }
  }
}
