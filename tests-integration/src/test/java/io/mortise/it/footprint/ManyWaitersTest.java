package io.mortise.it.footprint;

import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.it.support.TestThreads;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Waiting costs a client one connection, and sends no commands until a release. */
@Timeout(60)
@Tag("alone")
class ManyWaitersTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final int THREADS = 200;

  /** Less than the third of a lease at which the holder renews, and than a heartbeat. */
  private static final Duration QUIET = Duration.ofSeconds(2);

  @Test
  void waitersOfOneNameShareOneSubscriberAndSendNothing() throws Exception {
    assertQuiet(List.of(Names.fresh()));
  }

  @Test
  void waitersOfManyNamesShareOneSubscriberAndSendNothing() throws Exception {
    assertQuiet(Stream.generate(Names::fresh).limit(50).toList());
  }

  private static void assertQuiet(List<String> names) throws Exception {
    LockOptions options =
        LockOptions.builder().tuning(t -> t.subscriptionLinger(Duration.ofMillis(100))).build();
    try (LockClient holding = redis.client();
        LockClient waiting = LockClient.create(redis.uri(), options);
        TestThreads threads = new TestThreads()) {
      names.forEach(name -> new RedisLock(holding, name).lock());
      AtomicInteger done = new AtomicInteger();
      for (int thread = 0; thread < THREADS; thread++) {
        DistributedLock lock = new RedisLock(waiting, names.get(thread % names.size()));
        threads.start(
            () -> {
              lock.lock();
              lock.unlock();
              done.incrementAndGet();
            });
      }
      until("all are subscribed", () -> channels().size() == names.size());
      until("no command is sent", () -> waiting.status().connectionsInUse() == 0);

      redis.resetStats();
      Eventually.holdsFor(QUIET, "all wait", () -> done.get() == 0);
      Map<String, Long> sent = redis.server().commandStats();
      sent.keySet().removeAll(List.of("config|resetstat", "hello", "client|setinfo"));
      assertEquals(Map.of(), sent);
      assertEquals(1, subscribers(), "subscriber connections");
      assertEquals(names.size(), waiting.status().contended());

      names.forEach(name -> new RedisLock(holding, name).unlock());
      threads.join(Duration.ofSeconds(20));
      assertEquals(THREADS, done.get());
      ClientResources.awaitNone(waiting);
      until("no channel is left", () -> channels().isEmpty());
    }
  }

  private static List<?> channels() {
    return (List<?>) redis.command("PUBSUB", "CHANNELS");
  }

  private static long subscribers() {
    String clients = (String) redis.command("CLIENT", "LIST", "TYPE", "pubsub");
    return clients.lines().filter(line -> !line.isBlank()).count();
  }
}
