package io.mortise.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.mortise.core.LockClient;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the gauges show of clients that are watched, were watched, or are not. No server. */
@Timeout(60)
class WatchedClientsTest {
  private final MeterRegistry registry = new SimpleMeterRegistry();

  private static LockClient client() {
    return LockClient.create("redis://localhost:1");
  }

  private double gauge(String name) {
    return registry.get(name).gauge().value();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "mortise.lock.holds",
        "mortise.lock.waiters",
        "mortise.pending.releases",
        "mortise.active.connections",
        "mortise.unreachable.servers"
      })
  void aGaugeShowsNoNumberUntilAClientIsWatched(String name) {
    LockMetrics metrics = LockMetrics.create();
    metrics.bindTo(registry);
    assertEquals(Double.NaN, gauge(name));

    LockClient client = metrics.watch(client());
    assertEquals(0, gauge(name));
    client.close();
    assertEquals(0, gauge(name));
    metrics.close();
  }

  @Test
  void oneThatWatchesAClientIsEnoughForTheGaugesThatItShares() {
    LockMetrics without = LockMetrics.create();
    without.bindTo(registry);
    try (LockMetrics with = LockMetrics.create();
        LockClient client = with.watch(client())) {
      with.bindTo(registry);
      assertFalse(client.isClosed());
      assertEquals(0, gauge("mortise.lock.holds"));
    }
    assertEquals(Double.NaN, gauge("mortise.lock.holds"));
    without.close();
  }

  /** A counter that was no number once would be none for ever in a registry that adds up steps. */
  @Test
  void theCounterOfDroppedEventsIsZeroWithoutAClient() {
    LockMetrics metrics = LockMetrics.create();
    metrics.bindTo(registry);
    assertEquals(0, registry.get("mortise.dropped.events").functionCounter().count());
    metrics.close();
  }

  /** The last events of a client may come when its number is not asked for any more. */
  @Test
  void aClosedClientIsStillKnown() {
    WatchedClients clients = new WatchedClients();
    LockClient client = client();
    assertFalse(clients.contains(client.id()));
    clients.add(client);
    assertTrue(clients.contains(client.id()));

    client.close();
    assertEquals(0, clients.sum(LockClient.Status::holds));

    assertTrue(clients.contains(client.id()));
  }

  @Test
  void onlyTheLastOfTheClosedClientsAreKept() {
    WatchedClients clients = new WatchedClients();
    List<LockClient> closed = Stream.generate(WatchedClientsTest::client).limit(102).toList();
    for (LockClient client : closed) {
      clients.add(client);
      client.close();
    }
    assertEquals(0, clients.droppedEvents());

    assertEquals(
        Set.copyOf(closed.subList(2, 102)),
        closed.stream().filter(each -> clients.contains(each.id())).collect(Collectors.toSet()));
  }
}
