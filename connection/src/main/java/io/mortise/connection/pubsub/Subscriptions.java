package io.mortise.connection.pubsub;

import com.google.common.base.Ticker;
import io.mortise.connection.concurrent.OomSafeLock;
import io.mortise.connection.concurrent.Scheduler;
import io.mortise.connection.concurrent.Signal;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pubsub.ReservedChannels.Reservation;
import io.mortise.connection.topology.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The channels that a client subscribes for its waiters. A {@link ChannelMaintenance} keeps them
 * subscribed. Until the server has confirmed a channel its waiters do not rely on it, and poll.
 *
 * <p><b>Threads.</b> Any thread may call the public methods. {@code lock} guards the set of
 * channels, where each is subscribed, and the state of the subscribers. No thread waits under it.
 */
public final class Subscriptions implements AutoCloseable {
  private final Ticker ticker;
  private final SubscriptionTimings timings;
  private final ReentrantLock lock = new OomSafeLock();

  /** Written under the lock; read without it by methods that only look. */
  private final Map<String, WakeupChannel> channels = new ConcurrentHashMap<>();

  private final ReservedChannels reservedChannels = new ReservedChannels();
  private final ChannelMaintenance maintenance;

  /**
   * @param ticker the one of the scheduler
   * @param random returns values from 0 inclusive to 1 exclusive
   * @param connectionLostAction the action for a broken connection
   */
  public Subscriptions(
      Topology topology,
      WorkerPool workers,
      Scheduler scheduler,
      Ticker ticker,
      SubscriptionTimings timings,
      DoubleSupplier random,
      Runnable connectionLostAction) {
    this.ticker = ticker;
    this.timings = timings;
    this.maintenance =
        new ChannelMaintenance(
            topology,
            workers,
            scheduler,
            ticker,
            timings,
            random,
            connectionLostAction,
            lock,
            channels,
            reservedChannels);
  }

  /** The interest of one waiter in a channel. Closing it ends the interest, once. */
  public final class Subscription implements AutoCloseable {
    private final WakeupChannel channel;

    /** Guarded by the lock. */
    private boolean closed;

    private Subscription(WakeupChannel channel) {
      this.channel = channel;
    }

    public String channelName() {
      return channel.name;
    }

    public Signal signal() {
      return channel.signal;
    }

    /** Returns whether the server has confirmed the channel: messages from now on arrive. */
    public boolean confirmed() {
      return channel.confirmed;
    }

    /**
     * Ends the interest. After an error the interest has ended too, or a second call ends it; the
     * channel is dropped with the next heartbeat at the latest.
     */
    @Override
    public void close() {
      lock.lock();
      try {
        if (!closed) {
          closed = true; // first: an error below must not count the waiter twice
          channel.removeWaiter();
          if (channel.isIdle()) {
            maintenance.markIdle(channel, ticker.read());
          }
        }
      } finally {
        lock.unlock();
      }
    }
  }

  /** Joins a channel that is subscribed already; returns null, without cost, when it is not. */
  public @Nullable Subscription join(String name) {
    return channels.containsKey(name) ? subscribe(name, true) : null;
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
          channels.computeIfAbsent(
              name, absent -> new WakeupChannel(absent, keptAlive, ticker.read()));
      Subscription subscription = new Subscription(channel);
      if (maintenance.isClosed()) {
        channel.signal.fire();
      } else {
        maintenance.register();
        if (channel.subscriber == null) {
          maintenance.route(List.of(channel));
        }
      }
      channel.addWaiter(); // last: after an error the channel is dropped like one without waiters
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
  public @Nullable ReservedChannel takeReserved(Supplier<String> prefix) {
    if (reservedChannels.isEmpty()) {
      return null;
    }
    lock.lock();
    try {
      Reservation reservation = reservedChannels.take(prefix.get());
      if (reservation == null) {
        return null;
      }
      ReservedChannel reserved =
          new ReservedChannel(reservation.holder(), new Subscription(reservation.channel()));
      reservation.channel().addWaiter();
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
      long now = ticker.read();
      List<WakeupChannel> fresh = new ArrayList<>();
      boolean tooShort =
          timings.lingerNanos() < ReservedChannels.LINGER_NANOS; // they would not last
      boolean none = maintenance.isClosed() || tooShort;
      for (int i = none ? 0 : reservedChannels.shortfall(prefix, now); i > 0; i--) {
        String holder = holders.get();
        WakeupChannel channel = new WakeupChannel(channelOf.apply(holder), false, now);
        channels.put(channel.name, channel);
        reservedChannels.add(prefix, holder, channel);
        fresh.add(channel);
        maintenance.markIdle(channel, now);
      }
      maintenance.route(fresh);
    } finally {
      lock.unlock();
    }
  }

  /** Subscribes the channels at the servers that have replaced others. */
  public void serverChanged() {
    lock.lock();
    try {
      maintenance.serverChanged();
    } finally {
      lock.unlock();
    }
  }

  /** Returns the number of channels, with and without waiters; 0 when this is closed. */
  public int channels() {
    lock.lock();
    try {
      return maintenance.isClosed() ? 0 : channels.size();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      maintenance.close();
    } finally {
      lock.unlock();
    }
    channels.values().forEach(channel -> channel.signal.fire());
  }
}
