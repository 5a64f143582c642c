package io.mortise.connection.pubsub;

import static java.util.stream.Collectors.groupingBy;

import com.google.common.base.Ticker;
import io.mortise.connection.concurrent.CoalescedTask;
import io.mortise.connection.concurrent.ScheduledTask;
import io.mortise.connection.concurrent.Scheduler;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.topology.Topology;
import io.mortise.connection.topology.Topology.SubscriptionEndpoint;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.DoubleSupplier;

/**
 * Keeps the channels of {@link Subscriptions} subscribed, each where the topology says and for as
 * long as it is needed.
 *
 * <p><b>Where.</b> There is a {@link NodeSubscriber} for a server, and one for each node of a
 * cluster with sharded channels that has channels of waiters. A channel whose slot has moved is
 * subscribed at the slot's new node. A connection that breaks, or does not answer a heartbeat, is
 * replaced.
 *
 * <p><b>How long.</b> A channel without waiters stays for a while, see {@link IdleChannels}. One
 * that brings message after message for nobody is dropped before, unless it is the last one of its
 * connection, which costs more to replace.
 *
 * <p><b>Threads.</b> {@code lock}, which is that of {@link Subscriptions}, guards where each
 * channel is subscribed, and the state of the subscribers. The scheduler's thread calls {@code
 * onDue}, and a worker does the work under the lock. Any thread may call {@code dueNanos}, {@code
 * isClosed} and {@code onConnectionLost}; all other methods are called under the lock.
 */
final class ChannelMaintenance implements ScheduledTask, NodeSubscriber.Callbacks {
  private final Topology topology;
  private final WorkerPool workers;
  private final Scheduler scheduler;
  private final Ticker ticker;
  private final SubscriptionTimings timings;
  private final DoubleSupplier random;
  private final Runnable connectionLostAction;
  private final ReentrantLock lock;
  private final Map<String, WakeupChannel> channels;
  private final ReservedChannels reservedChannels;
  private final CoalescedTask refreshing;
  private final CoalescedTask droppingUnheard;

  /** Guarded by the lock. */
  private final Map<SubscriptionEndpoint, NodeSubscriber> subscribers = new HashMap<>();

  /** Guarded by the lock. */
  private final IdleChannels idle;

  /** Whether the scheduler has this task; guarded by the lock. */
  private boolean scheduled;

  private volatile long dueNanos;
  private volatile boolean closed;

  ChannelMaintenance(
      Topology topology,
      WorkerPool workers,
      Scheduler scheduler,
      Ticker ticker,
      SubscriptionTimings timings,
      DoubleSupplier random,
      Runnable connectionLostAction,
      ReentrantLock lock,
      Map<String, WakeupChannel> channels,
      ReservedChannels reservedChannels) {
    this.topology = topology;
    this.workers = workers;
    this.scheduler = scheduler;
    this.ticker = ticker;
    this.timings = timings;
    this.random = random;
    this.connectionLostAction = connectionLostAction;
    this.lock = lock;
    this.channels = channels;
    this.reservedChannels = reservedChannels;
    this.idle = new IdleChannels(timings.lingerNanos(), WakeupChannel::canBeRemoved);
    this.refreshing = new CoalescedTask(workers, this::refreshTopology);
    this.droppingUnheard = new CoalescedTask(workers, this::dropUnheard);
  }

  // ---- where

  /** Subscribes the channels where their messages are published; later, when that is not known. */
  void route(Collection<WakeupChannel> unrouted) {
    Map<NodeSubscriber, List<WakeupChannel>> bySubscriber = new HashMap<>();
    for (WakeupChannel channel : unrouted) {
      SubscriptionEndpoint endpoint = topology.endpointFor(channel.name);
      if (endpoint != null) {
        NodeSubscriber subscriber =
            subscribers.computeIfAbsent(
                endpoint,
                absent ->
                    new NodeSubscriber(
                        absent,
                        lock,
                        this,
                        workers,
                        ticker,
                        timings.answerNanos(),
                        random,
                        LockSupport::parkNanos));
        bySubscriber.computeIfAbsent(subscriber, absent -> new ArrayList<>()).add(channel);
      }
    }
    bySubscriber.forEach(NodeSubscriber::add);
  }

  /** Subscribes every channel at its present endpoint, and no other. */
  private void rerouteAll() {
    if (closed) {
      return;
    }
    List.copyOf(subscribers.values()).forEach(subscriber -> subscriber.removeStrays(channels));
    for (WakeupChannel channel : channels.values()) {
      NodeSubscriber subscriber = channel.subscriber;
      SubscriptionEndpoint endpoint = topology.endpointFor(channel.name);
      if (subscriber == null) {
        route(List.of(channel));
      } else if (endpoint != null && !endpoint.equals(subscriber.endpoint())) {
        subscriber.remove(List.of(channel));
        channel.invalidate();
        route(List.of(channel));
      }
    }
    subscribers.values().forEach(NodeSubscriber::subscribePending);
  }

  /** Returns the channels of each subscriber, without those that have none. */
  private static Map<NodeSubscriber, List<WakeupChannel>> bySubscriber(
      Collection<WakeupChannel> channels) {
    return channels.stream()
        .filter(channel -> channel.subscriber != null)
        .collect(groupingBy(channel -> Objects.requireNonNull(channel.subscriber)));
  }

  /** Replaces connections without sharded channels; moves sharded channels with their slots. */
  void serverChanged() {
    if (!topology.isSharded()) {
      reconnectAll();
    }
    rerouteAll();
  }

  private void reconnectAll() {
    subscribers.values().forEach(NodeSubscriber::reconnect);
  }

  void close() {
    closed = true;
    reconnectAll();
  }

  // ---- how long

  void register() {
    if (!scheduled) {
      dueNanos = ticker.read() + timings.heartbeatNanos();
      scheduler.add(this);
      scheduled = true;
    }
  }

  private void deregisterIfIdle() {
    if (channels.isEmpty() && subscribers.isEmpty()) {
      scheduled = false;
      scheduler.remove(this);
    }
  }

  /** Notes that a channel has no waiters from now on. */
  void markIdle(WakeupChannel channel, long nowNanos) {
    long due = idle.begins(channel, nowNanos);
    if (due - dueNanos < 0) {
      dueNanos = due;
      scheduler.reschedule(this);
    }
  }

  @Override
  public long dueNanos() {
    return dueNanos;
  }

  @Override
  public void onDue(long nowNanos) {
    dueNanos = nowNanos + timings.heartbeatNanos();
    var unused = workers.tryRun(this::maintain); // without a worker with the next heartbeat
  }

  /** Drops the channels that are idle for long enough, and checks the connections. */
  private void maintain() {
    lock.lock();
    try {
      long now = ticker.read();
      long due = dropIdle(now);
      for (NodeSubscriber subscriber : subscribers.values()) {
        long next = subscriber.heartbeat(now, timings.heartbeatNanos(), timings.answerNanos());
        due = next - due < 0 ? next : due;
      }
      rerouteAll();
      dueNanos = due;
      deregisterIfIdle();
    } finally {
      lock.unlock();
    }
    scheduler.reschedule(this);
  }

  /** Drops idle channels; returns when to check again. */
  private long dropIdle(long now) {
    long due = idle.findExpired(channels.values(), now, now + timings.heartbeatNanos());
    drop(idle.expired());
    reservedChannels.forget(now);
    return due;
  }

  private void drop(List<WakeupChannel> dropped) {
    var routed = bySubscriber(dropped); // an error here leaves all as it was
    reservedChannels.drop(dropped); // first: no waiter may take a channel that is no longer known
    dropped.forEach(channel -> channels.remove(channel.name));
    routed.forEach(NodeSubscriber::remove); // what an error leaves there is a stray
  }

  private void dropUnheard() {
    lock.lock();
    try {
      channels.values().stream() // one by one: the last channel of a connection stays
          .filter(WakeupChannel::canBeSpared)
          .forEach(channel -> drop(List.of(channel)));
    } finally {
      lock.unlock();
    }
  }

  // ---- for the subscribers

  @Override
  public void onConnectionLost(boolean connection) {
    if (connection) {
      connectionLostAction.run();
    }
    refreshing.request(); // otherwise maintain() does it later
  }

  private void refreshTopology() {
    topology.refresh();
    lock.lock();
    try {
      rerouteAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void onUnheard() {
    droppingUnheard.request(); // without a worker with the next message
  }

  @Override
  public boolean isClosed() {
    return closed;
  }

  @Override
  public void onEnd(NodeSubscriber subscriber) {
    subscribers.remove(subscriber.endpoint(), subscriber);
    deregisterIfIdle();
  }
}
