package io.mortise.connection.pubsub;

import io.mortise.connection.concurrent.Backoff;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pubsub.SubscriberSession.Listener;
import io.mortise.connection.topology.Topology.SubscriptionEndpoint;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Subscribes the channels of one server, over one connection and its thread, which exist while
 * there are channels. When the connection breaks, another one replaces it, the channels are
 * subscribed again, and all waiters wake up and try: messages published in between are lost.
 *
 * <p><b>Threads.</b> {@code lock}, which is that of {@link Subscriptions}, guards the set of
 * channels and the requests to the session, and orders the writes to it, because Jedis does not.
 * The session's thread reads messages without the lock, and fires their signals outside of it; it
 * takes the lock only for confirmed and unsubscribed channels. All methods that are not private are
 * called under the lock.
 */
final class NodeSubscriber {
  private static final Logger LOG = LoggerFactory.getLogger(NodeSubscriber.class);
  private static final long FIRST_PAUSE_NANOS = 20_000_000L;
  private static final long MAX_PAUSE_NANOS = 1_000_000_000L;

  /** What a subscriber needs from its owner. */
  interface Callbacks {
    /**
     * Handles a broken connection, or a channel that the server has dropped: channels may have
     * moved.
     *
     * @param connection whether the connection broke
     */
    void onConnectionLost(boolean connection);

    boolean isClosed();

    /** Handles a subscriber that has no channels and no thread any more; called under the lock. */
    void onEnd(NodeSubscriber subscriber);

    /** Returns the group of a channel; one command can subscribe the channels of one group. */
    int groupOf(String channel);
  }

  private final SubscriptionEndpoint endpoint;
  private final boolean sharded;
  private final ReentrantLock lock;
  private final NodeSubscriber.Callbacks callbacks;
  private final WorkerPool workers;

  /** Written under the lock; read without it by the session. */
  private final Map<String, WakeupChannel> channels = new ConcurrentHashMap<>();

  /** The channels that the session has still to subscribe; guarded by the lock. */
  private final Set<WakeupChannel> unrequested = new LinkedHashSet<>();

  /** The names that the session has still to unsubscribe; guarded by the lock. */
  private final Set<String> unsubscribing = new LinkedHashSet<>();

  // Both guarded by the lock.
  private @Nullable SubscriberSession session;
  private @Nullable Thread thread;

  /** The number of calls of {@link #reconnect}; guarded by the lock. */
  private long reconnects;

  /** Whether the log says that the connection broke; only the subscriber thread uses it. */
  private boolean outageLogged;

  NodeSubscriber(
      SubscriptionEndpoint endpoint,
      boolean sharded,
      ReentrantLock lock,
      NodeSubscriber.Callbacks callbacks,
      WorkerPool workers) {
    this.endpoint = endpoint;
    this.sharded = sharded;
    this.lock = lock;
    this.callbacks = callbacks;
    this.workers = workers;
  }

  SubscriptionEndpoint endpoint() {
    return endpoint;
  }

  void add(Collection<WakeupChannel> added) {
    for (WakeupChannel channel : added) {
      channel.subscriber = this;
      channels.put(channel.name, channel);
      unrequested.add(channel);
      unsubscribing.remove(channel.name);
    }
    subscribePending();
  }

  private void start() {
    try {
      Thread next = workers.threads("subscriber").newThread(this::keepSubscribed);
      next.start();
      thread = next;
    } catch (OutOfMemoryError noThread) {
      LOG.error(
          "no thread can be started for the subscription to {}; waiters poll", endpoint, noThread);
    }
  }

  /** Returns whether the channel can be removed now; not while its connection is replaced. */
  boolean canRemove(WakeupChannel channel) {
    return !channel.requested || (session != null && session.isLive());
  }

  /** Removes these channels; with the last one the connection ends. */
  void remove(Collection<WakeupChannel> removed) {
    for (WakeupChannel channel : removed) {
      channels.remove(channel.name);
      unrequested.remove(channel);
      if (channel.requested) {
        unsubscribing.add(channel.name);
      }
      channel.subscriber = null;
      channel.requested = false;
    }
    if (!channels.isEmpty()) {
      subscribePending();
    } else if (session != null) {
      session.end();
    }
    if (thread == null && channels.isEmpty()) {
      callbacks.onEnd(this); // without a thread that would do it
    }
  }

  /** Checks whether the connection is alive; returns when to check again. */
  long heartbeat(long nowNanos, long everyNanos, long answerNanos) {
    SubscriberSession current = session;
    // A channel without a confirmation serves too: the pending reply may be that of the first one.
    Optional<WakeupChannel> any =
        channels.values().stream().max(Comparator.comparing(channel -> channel.confirmed));
    return current == null || any.isEmpty()
        ? nowNanos + everyNanos
        : current.heartbeat(nowNanos, everyNanos, answerNanos, any.get().name);
  }

  /** Replaces the connection, by one to the present server; all waiters wake up and try. */
  void reconnect() {
    reconnects++;
    if (session != null) {
      session.disconnect();
    }
    LockSupport.unpark(thread);
  }

  /** Subscribes and unsubscribes the outstanding channels, as far as the session has room. */
  void subscribePending() {
    if (thread == null && !channels.isEmpty()) {
      start();
    }
    SubscriberSession current = session;
    if (current == null || !current.isLive()) {
      return; // a session that becomes live subscribes all channels
    }
    if (current.availableBytes() < SubscriberSession.MAX_PENDING_BYTES / 2) {
      return; // the next answers make room
    }
    List<String> next =
        fitting(unrequested.stream().map(channel -> channel.name), current.availableBytes());
    inGroups(next).forEach(current::subscribe);
    next.forEach(this::markRequested);
    // Only then: the session ends when its last channel is unsubscribed.
    List<String> last =
        unrequested.isEmpty()
            ? fitting(unsubscribing.stream(), current.availableBytes())
            : List.of();
    inGroups(last).forEach(current::unsubscribe);
    last.forEach(unsubscribing::remove);
  }

  private void markRequested(String name) {
    WakeupChannel channel = channels.get(name);
    if (channel != null) {
      channel.requested = true;
      unrequested.remove(channel);
    }
  }

  /** Returns the first names that fit; the last of them may exceed the room. */
  private static List<String> fitting(Stream<String> names, int roomBytes) {
    List<String> fitting = new ArrayList<>();
    int leftBytes = roomBytes;
    for (Iterator<String> each = names.iterator(); leftBytes > 0 && each.hasNext(); ) {
      String name = each.next();
      fitting.add(name);
      leftBytes -= SubscriberSession.bytes(name);
    }
    return fitting;
  }

  /** Returns the names of each group, for one command each. */
  private List<List<String>> inGroups(Collection<String> names) {
    return List.copyOf(names.stream().collect(Collectors.groupingBy(callbacks::groupOf)).values());
  }

  /** Runs sessions, one after the other, while there are channels: the subscriber thread. */
  private void keepSubscribed() {
    Backoff backoff = new Backoff(FIRST_PAUSE_NANOS, MAX_PAUSE_NANOS, Math::random);
    boolean needed = true;
    while (needed) {
      try {
        needed = runSession(backoff);
      } catch (Throwable e) { // an error too must not end the thread while there are waiters
        logError(e);
        LockSupport.parkNanos(this, backoff.nextNanos());
      }
    }
  }

  private void logError(Throwable thrown) {
    try {
      LOG.error("the subscription to {} is renewed after an error", endpoint, thrown);
    } catch (Throwable noLog) {
      // There is no memory even for a message: the thread continues all the same.
    }
  }

  /** Runs one session, from beginning to end; returns false when there are no channels. */
  private boolean runSession(Backoff backoff) {
    List<String> first = beginSession();
    if (first.isEmpty()) {
      return false;
    }
    Throwable broken = null;
    try {
      run(first, backoff);
    } catch (Throwable e) {
      broken = e;
    } finally {
      invalidateAll();
    }
    if (broken != null) {
      logBroken(broken);
    }
    if (!callbacks.isClosed() && (broken != null || !channels.isEmpty())) {
      callbacks.onConnectionLost(broken != null);
      LockSupport.parkNanos(this, backoff.nextNanos());
    }
    return true;
  }

  /** Returns the channels to subscribe first; none when the thread ends. */
  private List<String> beginSession() {
    lock.lock();
    try {
      invalidateAll(); // an error may have prevented that
      if (callbacks.isClosed() || channels.isEmpty()) {
        thread = null;
        callbacks.onEnd(this);
        return List.of();
      }
      List<String> fitting =
          fitting(
              unrequested.stream().map(channel -> channel.name),
              SubscriberSession.MAX_PENDING_BYTES);
      List<String> first = inGroups(fitting).get(0);
      first.forEach(this::markRequested);
      return first;
    } finally {
      lock.unlock();
    }
  }

  private void run(List<String> first, Backoff backoff) throws CommandException {
    long before = reconnects();
    SubscriberSession next =
        new SubscriberSession(endpoint.connect(), sharded, new Events(backoff));
    lock.lock();
    try {
      session = next;
      if (callbacks.isClosed() || channels.isEmpty()) {
        next.end();
      } else if (reconnects != before) {
        next.disconnect(); // another server has replaced this one since
      }
    } finally {
      lock.unlock();
    }
    next.run(first);
  }

  private long reconnects() {
    lock.lock();
    try {
      return reconnects;
    } finally {
      lock.unlock();
    }
  }

  /** Logs a broken connection, once for each outage, not for each attempt. */
  private void logBroken(Throwable cause) {
    if (callbacks.isClosed()) {
      return;
    }
    if (!outageLogged) {
      outageLogged = true;
      LOG.warn("the subscription to {} broke and is renewed: {}", endpoint, cause.toString());
    } else {
      LOG.debug("the subscription to {} could not be renewed yet", endpoint, cause);
    }
  }

  private void invalidateAll() {
    lock.lock();
    try {
      session = null;
      unsubscribing.clear();
      unrequested.addAll(channels.values());
      for (WakeupChannel channel : channels.values()) {
        if (channel.requested) {
          channel.invalidate();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Handles the answers and messages; called by the session's thread. */
  private final class Events implements Listener {
    private final Backoff backoff;

    Events(Backoff backoff) {
      this.backoff = backoff;
    }

    @Override
    public void confirmed(String name) {
      backoff.reset();
      outageLogged = false;
      WakeupChannel channel;
      lock.lock();
      try {
        subscribePending(); // channels added since the first request
        channel = channels.get(name);
        if (channel == null || !channel.requested || channel.confirmed) {
          return;
        }
        channel.confirmed = true;
      } finally {
        lock.unlock();
      }
      channel.signal.fire();
    }

    @Override
    public void message(String name) {
      WakeupChannel channel = channels.get(name);
      if (channel != null) {
        channel.signal.fire();
      }
    }

    @Override
    public void unsubscribed() {
      lock.lock();
      try {
        subscribePending(); // there is room again
      } finally {
        lock.unlock();
      }
    }

    @Override
    public void dropped(String name) {
      lock.lock();
      try {
        WakeupChannel channel = channels.get(name);
        if (channel == null || !channel.requested) {
          return; // this client has unsubscribed it
        }
        channel.invalidate();
        unrequested.add(channel);
      } finally {
        lock.unlock();
      }
      callbacks.onConnectionLost(false);
    }
  }
}
