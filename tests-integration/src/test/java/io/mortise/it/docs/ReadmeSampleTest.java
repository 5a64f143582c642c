package io.mortise.it.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.testkit.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The sample of the README is the method {@code sample} of this class. */
@Timeout(60)
class ReadmeSampleTest {
  private static final Path README = Path.of("..", "README.md");
  private static final Path SELF =
      Path.of("src/test/java", ReadmeSampleTest.class.getName().replace('.', '/') + ".java");

  private final Store store = new Store();
  private final String row = "row";

  @Test
  void theSampleCompilesAndWorks() throws Exception {
    try (RedisServer server = RedisServer.start();
        LockClient client = LockClient.create(server.uri())) {
      DistributedLock lock = new RedisLock(client, "order:42");

      sample(lock);

      assertTrue(store.token > 0, "the write carried a token");
      assertFalse(lock.isLocked(), "nothing is held in the end");
    }
  }

  private void sample(DistributedLock lock) throws InterruptedException {
    lock.lock(); // as any java.util.concurrent lock
    try {
      // the critical section
    } finally {
      lock.unlock();
    }

    try (Lease lease = lock.acquire(Duration.ofSeconds(5)).orElseThrow()) { // as a handle
      lease.onLost(loss -> cancelTheWork(loss.reason()));
      store.write(row, lease.fencingToken());
    }
  }

  @Test
  void eachLineOfTheSampleIsInThisClass() throws Exception {
    String readme = Files.readString(README);
    String sample = readme.substring(readme.indexOf("  lock.lock();"), readme.indexOf("\n}\n```"));
    String self = words(Files.readString(SELF));

    List<String> missing =
        sample.lines().map(ReadmeSampleTest::words).filter(line -> !self.contains(line)).toList();

    assertEquals(List.of(), missing);
  }

  private static String words(String text) {
    return text.replaceAll("\\s+", " ").trim();
  }

  private static void cancelTheWork(LeaseLoss.Reason reason) {
    throw new AssertionError("not lost: " + reason);
  }

  private static final class Store {
    private long token;

    void write(String row, long fencingToken) {
      assertFalse(row.isEmpty());
      token = fencingToken;
    }
  }
}
