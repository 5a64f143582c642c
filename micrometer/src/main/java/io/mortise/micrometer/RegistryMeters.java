package io.mortise.micrometer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.mortise.core.LockClient;
import io.mortise.core.LockEvent;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The meters of one registry with the same tags of the user: those of the clients, and those of
 * each kind of lock. Two meters of one name and the same tags would be one meter in the registry,
 * so all {@link LockMetrics} with these tags share this object, and the last one that leaves
 * removes the meters.
 *
 * <p><b>Threads.</b> Any thread may call any method. {@code LOCK} guards who shares what, and each
 * registration and removal: so a thread that delivers an event of one that leaves registers no
 * meter afterwards, and removes none of its successor.
 */
final class RegistryMeters {
  private static final ReentrantLock LOCK = new ReentrantLock();

  /**
   * The values are weak too, because they refer to the registry; {@link LockMetrics} keeps them.
   */
  @GuardedBy("LOCK")
  private static final Map<MeterRegistry, Map<Tags, WeakReference<RegistryMeters>>> SHARED =
      new WeakHashMap<>();

  private final MeterRegistry registry;
  private final Tags tags;
  private final Counter outages;
  private final List<Meter> ofClients;
  private final Map<Tags, LockMeters> ofLocks = new ConcurrentHashMap<>();

  /** Written under {@code LOCK}; read without it, because a registry may read a gauge anywhere. */
  private volatile Sharers sharers = new Sharers(List.of(), 0);

  @GuardedBy("LOCK")
  private boolean closed;

  private RegistryMeters(MeterRegistry registry, Tags tags) {
    this.registry = registry;
    this.tags = tags;
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
            FunctionCounter.builder("mortise.dropped.events", this, RegistryMeters::droppedEvents)
                .description("Events that reached no listener, so that meters lack them")
                .baseUnit("events")
                .tags(tags)
                .register(registry));
  }

  private Gauge gauge(
      String name, String unit, String description, ToLongFunction<LockClient.Status> number) {
    return Gauge.builder(name, this, meters -> meters.sum(number))
        .description(description)
        .baseUnit(unit)
        .tags(tags)
        .register(registry);
  }

  /** Returns the meters for these tags, registered by the first, with these clients added. */
  static RegistryMeters join(MeterRegistry registry, Tags tags, WatchedClients clients) {
    LOCK.lock();
    try {
      Map<Tags, WeakReference<RegistryMeters>> ofRegistry =
          SHARED.computeIfAbsent(registry, key -> new HashMap<>());
      WeakReference<RegistryMeters> known = ofRegistry.get(tags);
      RegistryMeters meters = known == null ? null : known.get();
      if (meters == null) {
        meters = new RegistryMeters(registry, tags);
        ofRegistry.put(tags, new WeakReference<>(meters));
      }
      meters.sharers = meters.sharers.with(clients);
      return meters;
    } finally {
      LOCK.unlock();
    }
  }

  /**
   * The clients of those that share the meters.
   *
   * @param clients weak, because one may be dropped without a close
   * @param droppedBefore the dropped events of those that have left: a counter must not go down
   */
  private record Sharers(List<WeakReference<WatchedClients>> clients, double droppedBefore) {
    Stream<WatchedClients> present() {
      return clients.stream().flatMap(each -> Stream.ofNullable(each.get()));
    }

    Sharers with(WatchedClients joining) {
      return of(Stream.concat(present(), Stream.of(joining)), droppedBefore);
    }

    Sharers without(WatchedClients leaving) {
      return of(
          present().filter(each -> !each.equals(leaving)), droppedBefore + leaving.droppedEvents());
    }

    private static Sharers of(Stream<WatchedClients> clients, double droppedBefore) {
      return new Sharers(clients.map(WeakReference::new).toList(), droppedBefore);
    }
  }

  private double sum(ToLongFunction<LockClient.Status> number) {
    return sharers.present().mapToDouble(clients -> clients.sum(number)).sum();
  }

  private double droppedEvents() {
    Sharers now = sharers;
    return now.droppedBefore() + now.present().mapToDouble(WatchedClients::droppedEvents).sum();
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
      if (meters != null) {
        meters.record(event);
      }
    } else if (event.type() == LockEvent.Type.UNREACHABLE) {
      outages.increment();
    }
  }

  /** Returns the meters of a kind; null when they have been removed. */
  private @Nullable LockMeters ofLock(Tags lockTags) {
    LockMeters known = ofLocks.get(lockTags);
    if (known != null) {
      return known;
    }
    LOCK.lock();
    try {
      return closed
          ? null
          : ofLocks.computeIfAbsent(lockTags, all -> new LockMeters(registry, all));
    } finally {
      LOCK.unlock();
    }
  }

  /** Leaves the meters to the others that share them, and removes them when there are none. */
  void leave(WatchedClients clients) {
    LOCK.lock();
    try {
      sharers = sharers.without(clients);
      if (sharers.present().findAny().isEmpty()) {
        closed = true;
        removeAll();
      }
    } finally {
      LOCK.unlock();
    }
  }

  @GuardedBy("LOCK")
  private void removeAll() {
    Map<Tags, WeakReference<RegistryMeters>> ofRegistry = SHARED.get(registry);
    if (ofRegistry != null) {
      ofRegistry.remove(tags);
    }
    ofLocks.values().forEach(LockMeters::close);
    ofLocks.clear();
    ofClients.forEach(registry::remove);
  }
}
