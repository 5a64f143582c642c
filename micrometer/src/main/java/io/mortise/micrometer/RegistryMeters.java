package io.mortise.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.mortise.core.LockClient;
import io.mortise.core.LockEvent;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The meters of one registry: those of the clients, and those of each kind of lock.
 *
 * <p><b>Threads.</b> Any thread may call any method. After {@link #close} a thread that delivers an
 * event at the same moment finds {@code closed}, and registers no meter.
 */
final class RegistryMeters implements AutoCloseable {
  private final MeterRegistry registry;
  private final Tags tags;
  private final WatchedClients clients;
  private final Counter outages;
  private final List<Meter> ofClients;
  private final Map<Tags, LockMeters> ofLocks = new ConcurrentHashMap<>();
  private volatile boolean closed;

  RegistryMeters(MeterRegistry registry, Tags tags, WatchedClients clients) {
    this.registry = registry;
    this.tags = tags;
    this.clients = clients;
    this.outages =
        Counter.builder("mortise.server.outages")
            .description("Times that a Redis server stopped answering")
            .baseUnit("outages")
            .tags(tags)
            .register(registry);
    this.ofClients =
        List.of(
            outages,
            gauge("mortise.lock.holds", "holds", "Locks held", LockClient.Status::holds),
            gauge(
                "mortise.lock.waiters",
                "waiters",
                "Threads that wait for a lock",
                LockClient.Status::waiters),
            gauge(
                "mortise.pending.releases",
                "releases",
                "Releases that Redis has not confirmed, and that are repeated",
                LockClient.Status::pendingReleases),
            gauge(
                "mortise.active.connections",
                "connections",
                "Connections with a command in progress",
                LockClient.Status::connectionsInUse),
            gauge(
                "mortise.unreachable.servers",
                "servers",
                "Redis servers whose last command had no reply",
                LockClient.Status::unreachableServers),
            FunctionCounter.builder(
                    "mortise.dropped.events", clients, WatchedClients::droppedEvents)
                .description("Events that reached no listener, so that meters lack them")
                .baseUnit("events")
                .tags(tags)
                .register(registry));
  }

  private Gauge gauge(
      String name, String unit, String description, ToLongFunction<LockClient.Status> number) {
    return Gauge.builder(name, clients, watched -> watched.sum(number))
        .description(description)
        .baseUnit(unit)
        .tags(tags)
        .register(registry);
  }

  /**
   * Records an event.
   *
   * @param named the tags of the lock's name; null for an event of a server
   */
  void record(LockEvent event, @Nullable Tags named) {
    String kind = event.lockKind().orElse(null);
    if (kind != null && named != null) {
      LockMeters meters = ofLock(tags.and("kind", kind).and(named));
      if (!closed) {
        meters.record(event);
      }
    } else if (event.type() == LockEvent.Type.UNREACHABLE) {
      outages.increment();
    }
  }

  private LockMeters ofLock(Tags lockTags) {
    LockMeters known = ofLocks.get(lockTags);
    if (known != null) {
      return known;
    }
    LockMeters made = ofLocks.computeIfAbsent(lockTags, all -> new LockMeters(registry, all));
    if (closed) { // close() may have missed it
      made.close();
    }
    return made;
  }

  @Override
  public void close() {
    closed = true;
    ofLocks.values().forEach(LockMeters::close);
    ofClients.forEach(registry::remove);
  }
}
