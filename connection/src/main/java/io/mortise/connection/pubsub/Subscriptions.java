package io.mortise.connection.pubsub;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.connection.concurrent.Scheduler;
import io.mortise.connection.concurrent.Signal;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pubsub.ReservedChannels.Spare;
import io.mortise.connection.topology.Topology;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * The subscribed channels of a client. Each channel is subscribed where the topology says, by the
 * {@link NodeSubscriber} of that endpoint: there is one for a server, and one for each node of a
 * cluster with sharded channels that has channels of waiters.
 *
 * <p>A channel stays for a while after its last waiter, because contention comes in bursts. A
 * connection that breaks, or does not answer a heartbeat, is replaced; a channel whose slot has
 * moved is subscribed at the slot's new node. Until the server has confirmed a channel its waiters
 * do not rely on it, and poll.
 *
 * <p><b>Threads.</b> Any thread may call the public methods. {@code lock} guards the set of
 * channels, where each is subscribed, and the state of the subscribers. No thread waits under it.
 */
public final class Subscriptions
    implements Scheduler.ScheduledTask, NodeSubscriber.Callbacks, AutoCloseable {
  /** The time that gathers the own channels of many waiters into one UNSUBSCRIBE. */
  private static final long PRIVATE_LINGER_NANOS = 50_000_000L;

  private final Topology topology;
  private final WorkerPool workers;
  private final Scheduler scheduler;
  private final long lingerNanos;
  private final long heartbeatNanos;
  private final long answerNanos;
  private final Runnable connectionLostAction;

  private final ReentrantLock lock = new ReentrantLock();

  /** Written under the lock; read without it by methods that only look. */
  private final Map<String, WakeupChannel> channels = new ConcurrentHashMap<>();

  @GuardedBy("lock")
  private final Map<Topology.SubscriptionEndpoint, NodeSubscriber> subscribers = new HashMap<>();

  private final ReservedChannels reservedChannels = new ReservedChannels();

  /** Whether the scheduler has this task. */
  @GuardedBy("lock")
  private boolean scheduled;

  private volatile long dueNanos;
  private volatile boolean closed;

  /**
   * @param lingerNanos how long a channel stays after its last waiter
   * @param heartbeatNanos how long a connection may be silent before a heartbeat is sent
   * @param answerNanos how long its answer may take
   * @param connectionLostAction the action for a broken connection
   */
  public Subscriptions(
      Topology topology,
      WorkerPool workers,
      Scheduler scheduler,
      long lingerNanos,
      long heartbeatNanos,
      long answerNanos,
      Runnable connectionLostAction) {
    this.topology = topology;
    this.connectionLostAction = connectionLostAction;
    this.workers = workers;
    this.scheduler = scheduler;
    this.lingerNanos = lingerNanos;
    this.heartbeatNanos = heartbeatNanos;
    this.answerNanos = answerNanos;
  }

  /** The interest of one waiter in a channel. Closing it ends the interest. */
  public final class Subscription implements AutoCloseable {
    private final WakeupChannel channel;

    private Subscription(WakeupChannel channel) {
      this.channel = channel;
    }

    public Signal signal() {
      return channel.signal;
    }

    /** Returns whether the server has confirmed the channel: messages from now on arrive. */
    public boolean confirmed() {
      return channel.confirmed;
    }

    @Override
    public void close() {
      removeWaiter(channel);
    }
  }

  /** Joins a channel that is subscribed already; returns null, without cost, when it is not. */
  public @Nullable Subscription join(String name) {
    return channels.containsKey(name) ? subscribe(name, true) : null;
  }

  /** Returns the generation of the signal of this channel; 0 when it is not subscribed. */
  public long generation(Supplier<String> name) {
    WakeupChannel channel = channels.isEmpty() ? null : channels.get(name.get());
    return channel == null ? 0 : channel.signal.generation();
  }

  /** Returns whether this client is a confirmed subscriber, so that PUBLISH counts it. */
  public boolean isHeard(String name) {
    WakeupChannel channel = channels.get(name);
    return channel != null && channel.confirmed;
  }

  /**
   * Subscribes the channel unless it is subscribed. Does not wait for the server.
   *
   * @param keptAlive whether the channel stays for a while after its last waiter
   */
  public Subscription subscribe(String name, boolean keptAlive) {
    lock.lock();
    try {
      WakeupChannel channel =
          channels.computeIfAbsent(name, absent -> new WakeupChannel(absent, keptAlive));
      Subscription subscription = new Subscription(channel);
      if (closed) {
        channel.signal.fire();
      } else {
        if (!scheduled) {
          dueNanos = System.nanoTime() + heartbeatNanos;
          scheduler.add(this);
          scheduled = true;
        }
        if (channel.subscriber == null) {
          route(List.of(channel));
        }
      }
      channel.waiters++; // last: after an error the channel is dropped like one without waiters
      return subscription;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes a holder id of this lock whose own channel is subscribed already.
   *
   * @param prefix the channel of an empty holder
   * @return null when there is none
   */
  public Subscriptions.@Nullable ReservedChannel takeReserved(Supplier<String> prefix) {
    if (reservedChannels.areNone()) {
      return null;
    }
    lock.lock();
    try {
      Spare spare = reservedChannels.take(prefix.get());
      if (spare == null) {
        return null;
      }
      Subscriptions.ReservedChannel reserved =
          new Subscriptions.ReservedChannel(spare.holder(), new Subscription(spare.channel()));
      spare.channel().waiters++;
      return reserved;
    } finally {
      lock.unlock();
    }
  }

  /** The result of {@link #takeReserved}. */
  public record ReservedChannel(String holder, Subscription subscription) {}

  /**
   * Notes a waiter with its own channel, and reserves channels for the next waiters if that happens
   * often. Does not wait for the server.
   *
   * @param prefix the channel of an empty holder
   */
  public void reserveAhead(
      String prefix, Supplier<String> holders, UnaryOperator<String> channelOf) {
    lock.lock();
    try {
      long now = System.nanoTime();
      List<WakeupChannel> fresh = new ArrayList<>();
      boolean none = closed || lingerNanos < ReservedChannels.LINGER_NANOS; // they would not last
      for (int i = none ? 0 : reservedChannels.shortfall(prefix, now); i > 0; i--) {
        String holder = holders.get();
        WakeupChannel channel = new WakeupChannel(channelOf.apply(holder), false);
        channels.put(channel.name, channel);
        reservedChannels.add(prefix, holder, channel);
        fresh.add(channel);
        markIdle(channel, now);
      }
      route(fresh);
    } finally {
      lock.unlock();
    }
  }

  /** Subscribes the channels where their messages are published; later, when that is not known. */
  @GuardedBy("lock")
  private void route(Collection<WakeupChannel> unrouted) {
    Map<NodeSubscriber, List<WakeupChannel>> bySubscriber = new HashMap<>();
    for (WakeupChannel channel : unrouted) {
      Topology.SubscriptionEndpoint endpoint = topology.endpointFor(channel.name);
      if (endpoint != null) {
        NodeSubscriber subscriber =
            subscribers.computeIfAbsent(
                endpoint,
                absent -> new NodeSubscriber(absent, topology.isSharded(), lock, this, workers));
        bySubscriber.computeIfAbsent(subscriber, absent -> new ArrayList<>()).add(channel);
      }
    }
    bySubscriber.forEach(NodeSubscriber::add);
  }

  private void removeWaiter(WakeupChannel channel) {
    lock.lock();
    try {
      if (--channel.waiters == 0) {
        markIdle(channel, System.nanoTime());
      }
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private void markIdle(WakeupChannel channel, long nowNanos) {
    channel.idleSinceNanos = nowNanos;
    long due = nowNanos + lingerNanos(channel);
    if (due - dueNanos < 0) {
      dueNanos = due;
      scheduler.wakeBy(due);
    }
  }

  private long lingerNanos(WakeupChannel channel) {
    if (channel.keptAlive) {
      return lingerNanos;
    }
    return channel.spareOf != null
        ? ReservedChannels.LINGER_NANOS
        : Math.min(lingerNanos, PRIVATE_LINGER_NANOS);
  }

  // ---- a change of servers

  /**
   * Replaces the connections whose channels have no slots; subscribes the channels that have at the
   * new nodes of their slots.
   */
  public void serverChanged() {
    lock.lock();
    try {
      if (!topology.isSharded()) {
        subscribers.values().forEach(NodeSubscriber::reconnect);
      }
      rerouteAll();
    } finally {
      lock.unlock();
    }
  }

  /** Subscribes every channel at its present endpoint. */
  @GuardedBy("lock")
  private void rerouteAll() {
    if (closed) {
      return;
    }
    for (WakeupChannel channel : channels.values()) {
      NodeSubscriber subscriber = channel.subscriber;
      Topology.SubscriptionEndpoint endpoint = topology.endpointFor(channel.name);
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

  // ---- for the subscribers

  @Override
  public void onConnectionLost(boolean connection) {
    if (connection) {
      connectionLostAction.run();
    }
    var unused = workers.tryRun(this::refreshTopology); // otherwise maintain() does it later
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
  public boolean isClosed() {
    return closed;
  }

  @Override
  @GuardedBy("lock")
  public void onEnd(NodeSubscriber subscriber) {
    subscribers.remove(subscriber.endpoint(), subscriber);
    deregisterIfIdle();
  }

  @GuardedBy("lock")
  private void deregisterIfIdle() {
    if (channels.isEmpty() && subscribers.isEmpty()) {
      scheduled = false;
      scheduler.remove(this);
    }
  }

  @Override
  public int groupOf(String channel) {
    return topology.isSharded() ? JedisClusterCRC16.getSlot(channel) : 0;
  }

  // ---- maintenance, by the scheduler

  @Override
  public long dueNanos() {
    return dueNanos;
  }

  @Override
  public void onDue(long nowNanos) {
    dueNanos = nowNanos + heartbeatNanos;
    workers.run(this::maintain);
  }

  /** Drops the channels that are idle for long enough, and checks the connections. */
  private void maintain() {
    lock.lock();
    try {
      long now = System.nanoTime();
      long due = dropIdle(now);
      for (NodeSubscriber subscriber : subscribers.values()) {
        long nextCheck = subscriber.heartbeat(now, heartbeatNanos, answerNanos);
        due = nextCheck - due < 0 ? nextCheck : due;
      }
      rerouteAll();
      dueNanos = due;
      deregisterIfIdle();
    } finally {
      lock.unlock();
    }
    scheduler.wakeBy(dueNanos);
  }

  /** Drops idle channels; returns when to check again. */
  @GuardedBy("lock")
  private long dropIdle(long now) {
    Map<NodeSubscriber, List<WakeupChannel>> idle = new HashMap<>();
    List<WakeupChannel> dropped = new ArrayList<>();
    long due = now + heartbeatNanos;
    for (WakeupChannel channel : channels.values()) {
      if (channel.waiters == 0) {
        NodeSubscriber subscriber = channel.subscriber;
        long expiryNanos = channel.idleSinceNanos + lingerNanos(channel);
        if (expiryNanos - now > 0 || (subscriber != null && !subscriber.canRemove(channel))) {
          due = expiryNanos - due < 0 ? Math.max(expiryNanos, now + PRIVATE_LINGER_NANOS) : due;
        } else {
          dropped.add(channel);
          if (subscriber != null) {
            idle.computeIfAbsent(subscriber, absent -> new ArrayList<>()).add(channel);
          }
        }
      }
    }
    dropped.forEach(channel -> channels.remove(channel.name));
    reservedChannels.drop(dropped);
    reservedChannels.forget(now);
    idle.forEach(NodeSubscriber::remove);
    return due;
  }

  /** Returns the number of channels, with and without waiters; 0 when this is closed. */
  public int channels() {
    lock.lock();
    try {
      return closed ? 0 : channels.size();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      subscribers.values().forEach(NodeSubscriber::reconnect);
    } finally {
      lock.unlock();
    }
    channels.values().forEach(channel -> channel.signal.fire());
  }
}
