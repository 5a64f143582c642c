package io.mortise.benchmarks.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.testkit.RedisServer;
import java.net.URI;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPubSub;

/** What INFO says, and what follows from it. */
class ServerCountersTest {
  private static final int PUBLISHES = 200;

  @Test
  void countersAreReadFromTheText() {
    ServerCounters counters =
        ServerCounters.parse(
            """
            # Stats\r
            total_reads_processed:40\r
            total_writes_processed:55\r
            # CPU\r
            used_cpu_sys:0.250000\r
            used_cpu_user:1.500000\r
            # Commandstats\r
            cmdstat_evalsha:calls=7,usec=70,usec_per_call=10.00,rejected_calls=0,failed_calls=0\r
            cmdstat_eval:calls=1,usec=30,usec_per_call=30.00\r
            cmdstat_publish:calls=9,usec=9,usec_per_call=1.00\r
            """);
    assertEquals(new ServerCounters(8, 100, 9, 40, 55, 1_750_000), counters);
    assertEquals(15, counters.messages());
  }

  @Test
  void theDifferenceIsThatOfTheTime() {
    ServerCounters earlier = new ServerCounters(1, 2, 3, 4, 5, 6);
    ServerCounters later = new ServerCounters(11, 22, 33, 44, 55, 66);
    assertEquals(new ServerCounters(10, 20, 30, 40, 50, 60), later.since(earlier));
  }

  /** The two requests for the counters differ by one or two reads. */
  @Test
  void messagesAreThoseThatSubscribersGot() throws Exception {
    try (RedisServer server = RedisServer.start();
        Jedis publisher = new Jedis(URI.create(server.uri()))) {
      CountDownLatch subscribed = new CountDownLatch(2);
      CountDownLatch heard = new CountDownLatch(2 * PUBLISHES);
      for (int i = 0; i < 2; i++) {
        Thread thread = new Thread(() -> subscribe(server.uri(), subscribed, heard));
        thread.setDaemon(true);
        thread.start();
      }
      assertTrue(subscribed.await(10, TimeUnit.SECONDS));
      publisher.ping();
      ServerCounters before = counters(server);
      for (int i = 0; i < PUBLISHES; i++) {
        publisher.publish("news", "x");
      }
      assertTrue(heard.await(10, TimeUnit.SECONDS));
      ServerCounters its = counters(server).since(before);
      assertEquals(PUBLISHES, its.publishes());
      assertEquals(2.0 * PUBLISHES, (double) its.messages(), 3);
    }
  }

  private static ServerCounters counters(RedisServer server) {
    return ServerCounters.parse(String.valueOf(server.command("INFO", "all")));
  }

  private static void subscribe(String uri, CountDownLatch subscribed, CountDownLatch heard) {
    try (Jedis jedis = new Jedis(URI.create(uri))) {
      jedis.subscribe(
          new JedisPubSub() {
            @Override
            public void onSubscribe(String channel, int count) {
              subscribed.countDown();
            }

            @Override
            public void onMessage(String channel, String message) {
              heard.countDown();
            }
          },
          "news");
    } catch (RuntimeException serverGone) {
      // The end of the test.
    }
  }
}
