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
 * The channels on which somebody waits. Each is heard where the deployment says, by the {@link
 * NodeSubscriber} of that place: there is one for a server, and one for each node of a cluster with
 * sharded channels on which somebody waits.
 *
 * <p>A channel stays for a while after its last waiter, because contention comes in bursts. A
 * connection that breaks, or does not answer a heartbeat, is made anew; a channel whose slot has
 * moved is subscribed at the slot's new node. Until the server has confirmed a channel its waiters
 * do not trust it, and poll.
 *
 * <p><b>Threads.</b> {@code lock} guards the set of channels, where each is heard, and the
 * subscribers' own state. Nothing is waited for under it.
 */
public final class Subscriptions
    implements Scheduler.ScheduledTask, NodeSubscriber.Callbacks, AutoCloseable {
  /** So that many waiters' own channels are left in one UNSUBSCRIBE. */
  private static final long PRIVATE_LINGER_NANOS = 50_000_000L;

  private final Topology servers;
  private final WorkerPool workers;
  private final Scheduler scheduler;
  private final long lingerNanos;
  private final long heartbeatNanos;
  private final long answerNanos;
  private final Runnable broken;

  private final ReentrantLock lock = new ReentrantLock();

  /** Written under the lock; read without it by those who only look. */
  private final Map<String, WakeupChannel> channels = new ConcurrentHashMap<>();

  @GuardedBy("lock")
  private final Map<Topology.SubscriptionEndpoint, NodeSubscriber> subscribers = new HashMap<>();

  private final ReservedChannels spares = new ReservedChannels();

  /** Whether the scheduler looks after this. */
  @GuardedBy("lock")
  private boolean scheduled;

  private volatile long dueNanos;
  private volatile boolean closed;

  /**
   * @param lingerNanos how long a channel stays after its last waiter
   * @param heartbeatNanos how long a connection may be silent before it is asked for an answer
   * @param answerNanos how long that answer may take
   * @param broken what to do when a connection broke
   */
  public Subscriptions(
      Topology servers,
      WorkerPool workers,
      Scheduler scheduler,
      long lingerNanos,
      long heartbeatNanos,
      long answerNanos,
      Runnable broken) {
    this.servers = servers;
    this.broken = broken;
    this.workers = workers;
    this.scheduler = scheduler;
    this.lingerNanos = lingerNanos;
    this.heartbeatNanos = heartbeatNanos;
    this.answerNanos = answerNanos;
  }

  /** One waiter's interest in a channel. Closing it gives the interest up. */
  public final class Subscription implements AutoCloseable {
    private final WakeupChannel channel;

    private Subscription(WakeupChannel channel) {
      this.channel = channel;
    }

    public Signal signal() {
      return channel.signal;
    }

    /** Whether the server has confirmed the channel, so that a message from now on arrives. */
    public boolean confirmed() {
      return channel.confirmed;
    }

    @Override
    public void close() {
      leave(channel);
    }
  }

  /** Joins a channel that is subscribed already; null when it is not. Costs nothing then. */
  public @Nullable Subscription join(String name) {
    return channels.containsKey(name) ? subscribe(name, true) : null;
  }

  /** The generation of the signal of this channel; 0 when that is not subscribed. */
  public long generation(Supplier<String> name) {
    WakeupChannel channel = channels.isEmpty() ? null : channels.get(name.get());
    return channel == null ? 0 : channel.signal.generation();
  }

  /** Whether this client hears the channel, so that a message counts it as one that did. */
  public boolean isHeard(String name) {
    WakeupChannel channel = channels.get(name);
    return channel != null && channel.confirmed;
  }

  /**
   * Sees to it that the channel is subscribed. Does not wait for the server.
   *
   * @param lingers whether the channel stays for a while after its last waiter
   */
  public Subscription subscribe(String name, boolean lingers) {
    lock.lock();
    try {
      WakeupChannel channel =
          channels.computeIfAbsent(name, absent -> new WakeupChannel(absent, lingers));
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
      channel.waiters++; // last: what an error leaves behind is dropped like one without waiters
      return subscription;
    } finally {
      lock.unlock();
    }
  }

  /**
   * A holder id of this lock whose own channel is subscribed already.
   *
   * @param prefix the channel of an empty holder
   * @return null when there is none
   */
  public Subscriptions.@Nullable ReservedChannel takeReserved(Supplier<String> prefix) {
    if (spares.areNone()) {
      return null;
    }
    lock.lock();
    try {
      Spare spare = spares.take(prefix.get());
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

  /** What {@link #takeReserved} gives. */
  public record ReservedChannel(String holder, Subscription subscription) {}

  /**
   * Somebody waits on a channel of its own: sees to it that there are some for the next ones, if
   * that happens often. Does not wait for the server.
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
      for (int i = none ? 0 : spares.shortfall(prefix, now); i > 0; i--) {
        String holder = holders.get();
        WakeupChannel channel = new WakeupChannel(channelOf.apply(holder), false);
        channels.put(channel.name, channel);
        spares.add(prefix, holder, channel);
        fresh.add(channel);
        idle(channel, now);
      }
      route(fresh);
    } finally {
      lock.unlock();
    }
  }

  /** Has the channels heard where they are published; later, when that is not known. */
  @GuardedBy("lock")
  private void route(Collection<WakeupChannel> some) {
    Map<NodeSubscriber, List<WakeupChannel>> places = new HashMap<>();
    for (WakeupChannel channel : some) {
      Topology.SubscriptionEndpoint post = servers.endpointFor(channel.name);
      if (post != null) {
        NodeSubscriber subscriber =
            subscribers.computeIfAbsent(
                post, at -> new NodeSubscriber(at, servers.isSharded(), lock, this, workers));
        places.computeIfAbsent(subscriber, absent -> new ArrayList<>()).add(channel);
      }
    }
    places.forEach(NodeSubscriber::add);
  }

  private void leave(WakeupChannel channel) {
    lock.lock();
    try {
      if (--channel.waiters == 0) {
        idle(channel, System.nanoTime());
      }
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private void idle(WakeupChannel channel, long nowNanos) {
    channel.idleSinceNanos = nowNanos;
    long due = nowNanos + lingerNanos(channel);
    if (due - dueNanos < 0) {
      dueNanos = due;
      scheduler.wakeBy(due);
    }
  }

  private long lingerNanos(WakeupChannel channel) {
    if (channel.lingers) {
      return lingerNanos;
    }
    return channel.spareOf != null
        ? ReservedChannels.LINGER_NANOS
        : Math.min(lingerNanos, PRIVATE_LINGER_NANOS);
  }

  // ---- other servers than before

  /** Connections that do not follow a slot are made anew, channels that do are subscribed there. */
  public void serverChanged() {
    lock.lock();
    try {
      if (!servers.isSharded()) {
        subscribers.values().forEach(NodeSubscriber::reconnect);
      }
      rerouteAll();
    } finally {
      lock.unlock();
    }
  }

  /** Every channel to where it is heard now. */
  @GuardedBy("lock")
  private void rerouteAll() {
    if (closed) {
      return;
    }
    for (WakeupChannel channel : channels.values()) {
      NodeSubscriber at = channel.subscriber;
      Topology.SubscriptionEndpoint post = servers.endpointFor(channel.name);
      if (at == null) {
        route(List.of(channel));
      } else if (post != null && !post.equals(at.post())) {
        at.remove(List.of(channel));
        channel.invalidate();
        route(List.of(channel));
      }
    }
    subscribers.values().forEach(NodeSubscriber::subscribeMissing);
  }

  // ---- for the subscribers

  @Override
  public void onConnectionLost(boolean connection) {
    if (connection) {
      broken.run();
    }
    var unused = workers.tryRun(this::refreshTopology); // otherwise the next look sees to it
  }

  private void refreshTopology() {
    servers.refresh();
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
    subscribers.remove(subscriber.post(), subscriber);
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
    return servers.isSharded() ? JedisClusterCRC16.getSlot(channel) : 0;
  }

  // ---- what is due

  @Override
  public long dueNanos() {
    return dueNanos;
  }

  @Override
  public void onDue(long nowNanos) {
    dueNanos = nowNanos + heartbeatNanos;
    workers.run(this::maintain);
  }

  /** Drops the channels that nobody came back to, and asks the connections whether they live. */
  private void maintain() {
    lock.lock();
    try {
      long now = System.nanoTime();
      long due = dropIdle(now);
      for (NodeSubscriber subscriber : subscribers.values()) {
        long look = subscriber.heartbeat(now, heartbeatNanos, answerNanos);
        due = look - due < 0 ? look : due;
      }
      rerouteAll();
      dueNanos = due;
      deregisterIfIdle();
    } finally {
      lock.unlock();
    }
    scheduler.wakeBy(dueNanos);
  }

  /** When to look again. */
  @GuardedBy("lock")
  private long dropIdle(long now) {
    Map<NodeSubscriber, List<WakeupChannel>> idle = new HashMap<>();
    List<WakeupChannel> all = new ArrayList<>();
    long due = now + heartbeatNanos;
    for (WakeupChannel channel : channels.values()) {
      if (channel.waiters == 0) {
        NodeSubscriber at = channel.subscriber;
        long over = channel.idleSinceNanos + lingerNanos(channel);
        if (over - now > 0 || (at != null && !at.canLeave(channel))) {
          due = over - due < 0 ? Math.max(over, now + PRIVATE_LINGER_NANOS) : due;
        } else {
          all.add(channel);
          if (at != null) {
            idle.computeIfAbsent(at, absent -> new ArrayList<>()).add(channel);
          }
        }
      }
    }
    all.forEach(channel -> channels.remove(channel.name));
    spares.drop(all);
    spares.forget(now);
    idle.forEach(NodeSubscriber::remove);
    return due;
  }

  /** How many channels are subscribed, or linger; none when this is closed. */
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
