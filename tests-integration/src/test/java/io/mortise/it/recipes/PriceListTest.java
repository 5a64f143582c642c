package io.mortise.it.recipes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.LockClient;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.TwoClients;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.RedisClient;

/** Of all nodes one refreshes the cache. */
@Timeout(60)
class PriceListTest {
  private static final Map<String, String> PRICES = Map.of("shoe", "90", "sock", "5");
  private static final Duration LIFE = Duration.ofMinutes(5);

  @RegisterExtension static final TwoClients PROCESSES = new TwoClients();

  private final AtomicInteger refreshes = new AtomicInteger();
  private RedisClient redis;

  @BeforeEach
  void connect() {
    redis = RedisClient.create(PROCESSES.server().host(), PROCESSES.server().port());
    redis.flushAll();
  }

  @AfterEach
  void disconnect() {
    redis.close();
  }

  private PriceList node(LockClient client, Supplier<Map<String, String>> source) {
    return new PriceList(client, redis, source, LIFE);
  }

  private Map<String, String> refresh() {
    refreshes.incrementAndGet();
    return PRICES;
  }

  @Test
  void readersOfAllNodesWaitForOneRefresh() throws Exception {
    Step isRefreshing = new Step();
    Step mayRefresh = new Step();
    PriceList here =
        node(
            PROCESSES.here(),
            () -> {
              isRefreshing.done();
              mayRefresh.await();
              return refresh();
            });
    PriceList there = node(PROCESSES.there(), this::refresh);

    AsyncCall<Map<String, String>> first = AsyncCall.start(here::prices);
    isRefreshing.await();
    AsyncCall<Map<String, String>> second = AsyncCall.start(there::prices).awaitParked();
    mayRefresh.done();

    assertEquals(PRICES, first.get());
    assertEquals(PRICES, second.get());
    assertEquals(1, refreshes.get());
  }

  @Test
  void readersThatFindTheCacheStaleTogetherRefreshItOnce() throws Exception {
    CyclicBarrier together = new CyclicBarrier(8);
    List<AsyncCall<Map<String, String>>> readers = new ArrayList<>();
    for (LockClient client : List.of(PROCESSES.here(), PROCESSES.there())) {
      PriceList node = node(client, this::refresh);
      for (int reader = 0; reader < 4; reader++) {
        readers.add(
            AsyncCall.start(
                () -> {
                  together.await();
                  return node.prices();
                }));
      }
    }
    for (AsyncCall<Map<String, String>> reader : readers) {
      assertEquals(PRICES, reader.get());
    }
    assertEquals(1, refreshes.get());
  }

  @Test
  void aCacheThatIsStaleIsRefreshed() {
    PriceList node = node(PROCESSES.here(), this::refresh);
    node.prices();
    redis.hset("prices", "shoe", "0");
    assertEquals("0", node.prices().get("shoe"), "from the cache");

    redis.del("prices:fresh");

    assertEquals(PRICES, node.prices());
    assertEquals(2, refreshes.get());
  }
}
