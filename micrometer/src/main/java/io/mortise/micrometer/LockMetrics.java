package io.mortise.micrometer;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.mortise.core.LockClient;
import io.mortise.core.LockEvent;
import io.mortise.core.LockListener;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Meters of the locks of one or more clients, in one or more registries.
 *
 * <pre>{@code
 * LockMetrics metrics = LockMetrics.create();
 * metrics.bindTo(registry);
 * LockClient client =
 *     metrics.watch(
 *         LockClient.create(uri, LockOptions.builder().listener(metrics).build()));
 * }</pre>
 *
 * <p>Timers and counters are made of the events of the clients that have this listener, and those
 * of a registry begin when it is bound. Gauges ask the {@linkplain #watch watched} clients for
 * their {@link LockClient#status() status} when they are read: so a dropped event leaves no gauge
 * wrong for ever. They show {@code NaN} until a client is watched, and the first event of a client
 * that is not watched is logged as a warning.
 *
 * <table>
 * <caption>The meters</caption>
 * <tr><th>name<th>type<th>tags<th>what
 * <tr><td>{@code mortise.lock.acquire}<td>timer<td>kind, outcome<td>from the request of a lock to
 *     its grant, or to the end without it; {@code acquired}, {@code not_acquired}, {@code
 *     interrupted}, {@code error}
 * <tr><td>{@code mortise.lock.hold}<td>timer<td>kind, outcome<td>from the grant to the end of the
 *     hold; {@code released}, {@code lost}
 * <tr><td>{@code mortise.lock.renewal.late}<td>timer<td>kind<td>lateness of late renewals
 * <tr><td>{@code mortise.lock.losses}<td>counter<td>kind, reason<td>lost holds
 * <tr><td>{@code mortise.lock.handoffs}<td>counter<td>kind<td>hand-offs between threads of a client
 * <tr><td>{@code mortise.server.outages}<td>counter<td>-<td>servers that stopped answering
 * <tr><td>{@code mortise.lock.holds}<td>gauge<td>-<td>holds at this moment
 * <tr><td>{@code mortise.lock.waiters}<td>gauge<td>-<td>threads that wait at this moment
 * <tr><td>{@code mortise.pending.releases}<td>gauge<td>-<td>releases that Redis has not confirmed
 * <tr><td>{@code mortise.active.connections}<td>gauge<td>-<td>connections with a command
 * <tr><td>{@code mortise.unreachable.servers}<td>gauge<td>-<td>servers that do not answer
 * <tr><td>{@code mortise.dropped.events}<td>function counter<td>-<td>events that reached no listener
 * </table>
 *
 * <p><b>Cardinality.</b> The number of meters is bounded: a kind is one of few words, and outcomes
 * and reasons are fixed. The name of a lock is no tag, unless {@link Builder#lockTag} makes one of
 * it. All meters of a kind are registered at its first request, so that counters begin at zero.
 * Percentiles and histograms are a matter of the registry's {@code MeterFilter}s.
 *
 * <p><b>Locks of locks.</b> A {@code MultiLock} or {@code RedLock} is measured by its members. A
 * {@code LockMetrics} for each client, with a {@linkplain Builder#tags tag}, tells the nodes of a
 * {@code RedLock} apart; one for all of them adds them up. The wait for the whole lock is timed if
 * it is an {@link ObservedLock}, by Micrometer's {@code DefaultMeterObservationHandler}.
 *
 * <p><b>Several in one registry.</b> Those with the same {@linkplain Builder#tags tags} share their
 * meters: the numbers are added up, and the last one that is closed removes them. A client belongs
 * to one of them; with two it counts twice. A composite registry registers its meters in each of
 * its registries: bind it, or these, but not both with the same tags.
 *
 * <p><b>Memory.</b> A registry refers to this object weakly, as Micrometer's gauges do. A client
 * refers to its listeners, so an application that has its client has its meters.
 *
 * <p><b>Threads.</b> Any thread may call any method; the threads of the clients deliver the events.
 */
public final class LockMetrics implements LockListener, MeterBinder, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LockMetrics.class);

  private final Tags tags;
  private final @Nullable Function<String, String> lockTag;
  private final WatchedClients clients = new WatchedClients();
  private final Map<MeterRegistry, RegistryMeters> bound = new ConcurrentHashMap<>();

  /** Whether a warning has been logged. */
  private final AtomicBoolean warned = new AtomicBoolean();

  private LockMetrics(Builder builder) {
    this.tags = builder.tags;
    this.lockTag = builder.lockTag;
  }

  /** Returns metrics without tags of the user's. */
  public static LockMetrics create() {
    return builder().build();
  }

  /** Returns a builder. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Registers the meters. A second call with the same registry does nothing.
   *
   * @param registry any, also a composite
   */
  @Override
  public void bindTo(MeterRegistry registry) {
    Objects.requireNonNull(registry, "registry");
    bound.computeIfAbsent(registry, key -> RegistryMeters.join(key, tags, clients));
  }

  /**
   * Adds a client to those whose status the gauges show, until it is closed. Each client counts
   * once.
   *
   * @return the client
   */
  public LockClient watch(LockClient client) {
    clients.add(Objects.requireNonNull(client, "client"));
    return client;
  }

  /**
   * Records an event in every registry. What {@link Builder#lockTag} or a registry throws is logged
   * by the client.
   */
  @Override
  public void onEvent(LockEvent event) {
    Objects.requireNonNull(event, "event");
    if (!bound.isEmpty()) {
      checkWatched(event.clientId());
      Tags named = lockTag == null ? Tags.empty() : event.lockName().map(this::tag).orElse(null);
      recordIn(bound.values(), event, named);
    }
  }

  /** Warns once of a client that the gauges leave out. */
  private void checkWatched(String clientId) {
    if (!warned.get() && !clients.contains(clientId) && !warned.getAndSet(true)) {
      LOG.warn(
          "client {} notifies LockMetrics that do not watch it: its holds, waiters, connections and"
              + " dropped events are in no gauge; call LockMetrics.watch(client)",
          clientId);
    }
  }

  /** Records in all registries, also after one that refuses a meter; throws the first failure. */
  private static void recordIn(
      Iterable<RegistryMeters> registries, LockEvent event, @Nullable Tags named) {
    Throwable first = null;
    for (RegistryMeters each : registries) {
      try {
        each.record(event, named);
      } catch (RuntimeException | Error e) {
        if (first == null) {
          first = e;
        } else if (first != e) {
          first.addSuppressed(e);
        }
      }
    }
    if (first instanceof Error error) {
      throw error;
    } else if (first instanceof RuntimeException refusal) {
      throw refusal;
    }
  }

  private Tags tag(String lockName) {
    String value = lockTag == null ? null : lockTag.apply(lockName);
    return Tags.of("lock", value == null || value.isBlank() ? "none" : value);
  }

  /**
   * Removes all meters from their registries, except those that another {@code LockMetrics} shares.
   * Later events have no effect until it is bound.
   */
  @Override
  public void close() {
    for (MeterRegistry registry : bound.keySet()) {
      // In one step, so that no binding at the same moment takes meters that go.
      bound.computeIfPresent(
          registry,
          (key, meters) -> {
            meters.leave(clients);
            return null;
          });
    }
  }

  /**
   * Builds metrics.
   *
   * <p><b>Threads.</b> Not safe for use by several threads.
   */
  public static final class Builder {
    private Tags tags = Tags.empty();
    private @Nullable Function<String, String> lockTag;

    private Builder() {}

    /** Adds tags that every meter gets. */
    public Builder tags(Iterable<Tag> more) {
      tags = tags.and(Objects.requireNonNull(more, "more"));
      return this;
    }

    /**
     * Adds the tag {@code lock} to the meters of locks.
     *
     * @param valueOfName returns the value for the {@linkplain LockEvent#lockName() name of a lock
     *     in Redis}. It must return few different values, such as the part of the name before an
     *     id: each makes 12 meters, which stay. Blank counts as {@code none}. Called on the thread
     *     that delivers the events
     */
    public Builder lockTag(Function<String, String> valueOfName) {
      lockTag = Objects.requireNonNull(valueOfName, "valueOfName");
      return this;
    }

    /** Returns the metrics. */
    public LockMetrics build() {
      return new LockMetrics(this);
    }
  }
}
