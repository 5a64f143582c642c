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
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.DoubleAccumulator;
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
   * The values are weak too, because they refer to the registry. The registry itself keeps them, by
   * the functions of its meters: so these go on for the next one when a {@link LockMetrics} was
   * dropped without a close.
   */
  @GuardedBy("LOCK")
  private static final Map<MeterRegistry, Map<Tags, WeakReference<RegistryMeters>>> SHARED =
      new WeakHashMap<>();

  private final MeterRegistry registry;
  private final Tags tags;
  private final Counter outages;
  private final List<Meter> ofClients = new ArrayList<>();
  private final Map<Tags, LockMeters> ofLocks = new ConcurrentHashMap<>();

  /** Written under {@code LOCK}; read without it, because a registry may read a gauge anywhere. */
  private volatile Sharers sharers = new Sharers(List.of(), 0);

  @GuardedBy("LOCK")
  private boolean closed;

  private RegistryMeters(MeterRegistry registry, Tags tags) {
    this.registry = registry;
    this.tags = tags;
    try {
      this.outages =
          Counter.builder("mortise.server.outages")
              .description("Times that a Redis server stopped answering")
              .baseUnit("outages")
              .tags(tags)
              .register(registry);
      ofClients.add(outages);
      gauge("mortise.lock.holds", "holds", "Locks held", LockClient.Status::holds);
      gauge(
          "mortise.lock.waiters",
          "waiters",
          "Threads that wait for a lock",
          LockClient.Status::waiters);
      gauge(
          "mortise.pending.releases",
          "releases",
          "Releases that Redis has not confirmed, and that are repeated",
          LockClient.Status::pendingReleases);
      gauge(
          "mortise.active.connections",
          "connections",
          "Connections with a command in progress",
          LockClient.Status::connectionsInUse);
      gauge(
          "mortise.unreachable.servers",
          "servers",
          "Redis servers whose last command had no reply",
          LockClient.Status::unreachableServers);
      ofClients.add(
          FunctionCounter.builder("mortise.dropped.events", this, same -> droppedEvents())
              .description("Events that reached no listener, so that meters lack them")
              .baseUnit("events")
              .tags(tags)
              .register(registry));
    } catch (RuntimeException | Error e) { // the registry has another meter of one of these names
      ofClients.forEach(registry::remove);
      throw e;
    }
  }

  private void gauge(
      String name, String unit, String description, ToLongFunction<LockClient.Status> number) {
    ofClients.add(
        Gauge.builder(name, () -> sum(number))
            .description(description)
            .baseUnit(unit)
            .tags(tags)
            .register(registry));
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
   * One that shares the meters, or has shared them: a counter must not go down.
   *
   * @param clients weak, because one may be dropped without a close
   * @param present whether it has not left
   * @param dropped the largest number of dropped events that was read while it was present. One
   *     that is bound again goes on with it, because its clients count all that they ever dropped
   */
  private record Sharer(
      WeakReference<WatchedClients> clients, boolean present, DoubleAccumulator dropped) {
    static Sharer of(WatchedClients clients) {
      return new Sharer(new WeakReference<>(clients), true, new DoubleAccumulator(Math::max, 0));
    }

    Sharer present(boolean now) {
      return new Sharer(clients, now, dropped);
    }

    Stream<WatchedClients> whilePresent() {
      return present ? Stream.ofNullable(clients.get()) : Stream.empty();
    }

    double droppedEvents() {
      whilePresent().forEach(this::accumulate);
      return dropped.get();
    }

    /** Adds up before these can be found collected: whoever finds that has the number. */
    private void accumulate(WatchedClients counted) {
      try {
        dropped.accumulate(counted.droppedEvents());
      } finally {
        Reference.reachabilityFence(counted);
      }
    }
  }

  /**
   * Those that share the meters, or have shared them.
   *
   * @param droppedBefore the dropped events of those that exist no more
   */
  private record Sharers(List<Sharer> all, double droppedBefore) {
    Stream<WatchedClients> present() {
      return all.stream().flatMap(Sharer::whilePresent);
    }

    double droppedEvents() {
      return droppedBefore + all.stream().mapToDouble(Sharer::droppedEvents).sum();
    }

    /** Adds one, or adds it again. */
    Sharers with(WatchedClients joining) {
      List<Sharer> kept = new ArrayList<>();
      double before = droppedBefore;
      Sharer joined = Sharer.of(joining);
      for (Sharer each : all) {
        if (each.clients().refersTo(joining)) {
          joined = each.present(true);
        } else if (each.clients().refersTo(null)) {
          before += each.droppedEvents();
        } else {
          kept.add(each);
        }
      }
      kept.add(joined);
      return new Sharers(List.copyOf(kept), before);
    }

    Sharers without(WatchedClients leaving) {
      double unused = droppedEvents(); // reads the number that the one that leaves has at its end
      return new Sharers(
          all.stream()
              .map(each -> each.clients().refersTo(leaving) ? each.present(false) : each)
              .toList(),
          droppedBefore);
    }
  }

  /** Returns the sum; no number where no client was ever watched, because zero looks healthy. */
  private double sum(ToLongFunction<LockClient.Status> number) {
    List<WatchedClients> watching = sharers.present().filter(WatchedClients::isUsed).toList();
    return watching.isEmpty()
        ? Double.NaN
        : watching.stream().mapToDouble(clients -> clients.sum(number)).sum();
  }

  private double droppedEvents() {
    return sharers.droppedEvents();
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
