package io.mortise.it.footprint;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.Names;
import io.mortise.it.support.TestThreads;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Waiting costs a client one connection, and Redis nothing while nothing happens. */
@Timeout(60)
@Tag("alone")
class ManyWaitersTest {
  private static final int THREADS = 200;

  /** Less than the third of a lease at which the holder renews, and than a heartbeat. */
  private static final Duration QUIET = Duration.ofSeconds(2);

  private static RedisServer server;

  @BeforeAll
  static void start() {
    server = RedisServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Test
  void waitersOfOneNameShareOneSubscriberAndSendNothingWhileNothingHappens() throws Exception {
    assertQuiet(List.of(Names.fresh()), 1);
  }

  @Test
  void waitersOfManyNamesShareOneSubscriberAndSendNothingWhileNothingHappens() throws Exception {
    List<String> names = Stream.generate(Names::fresh).limit(50).toList();
    assertQuiet(names, names.size());
  }

  private static void assertQuiet(List<String> names, int channels) throws Exception {
    LockOptions options = LockOptions.builder().subscriptionLinger(Duration.ofMillis(100)).build();
    try (LockClient holding = LockClient.create(server.uri());
        LockClient waiting = LockClient.create(server.uri(), options);
        TestThreads crew = new TestThreads()) {
      names.forEach(name -> new RedisLock(holding, name).lock());
      AtomicInteger done = new AtomicInteger();
      for (int thread = 0; thread < THREADS; thread++) {
        DistributedLock lock = new RedisLock(waiting, names.get(thread % names.size()));
        crew.start(
            () -> {
              lock.lock();
              lock.unlock();
              done.incrementAndGet();
            });
      }
      await().until(() -> channels().size() == channels);
      await().until(() -> waiting.status().connectionsInUse() == 0);

      server.resetStats();
      await().during(QUIET).until(() -> done.get() == 0);
      Map<String, Long> sent = server.commandStats();
      sent.keySet().removeAll(List.of("config|resetstat", "hello", "client|setinfo"));
      assertEquals(Map.of(), sent);
      assertEquals(1, subscribers(), "subscriber connections");
      assertEquals(names.size(), waiting.status().contended());

      names.forEach(name -> new RedisLock(holding, name).unlock());
      crew.join(Duration.ofSeconds(20));
      assertEquals(THREADS, done.get());
      ClientResources.awaitNone(waiting);
      await().until(() -> channels().isEmpty());
    }
  }

  private static List<?> channels() {
    return (List<?>) server.command("PUBSUB", "CHANNELS");
  }

  private static long subscribers() {
    String clients = (String) server.command("CLIENT", "LIST", "TYPE", "pubsub");
    return clients.lines().filter(line -> !line.isBlank()).count();
  }
}
