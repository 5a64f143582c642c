package io.mortise.connection.pubsub;

import com.google.common.base.Ticker;
import io.mortise.connection.concurrent.Backoff;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.concurrent.RepeatedFailureLog;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.topology.Topology.SubscriptionEndpoint;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.DoubleSupplier;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisRedirectionException;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * Subscribes the channels of one server, over one connection and its thread, which exist while
 * there are channels. When the connection breaks, another one replaces it, the channels are
 * subscribed again, and all waiters wake up and try: messages published in between are lost. The
 * pauses before that grow up to a second, until a connection has lasted for a second.
 *
 * <p><b>Threads.</b> {@code lock}, which is that of {@link Subscriptions}, guards the set of
 * channels and the requests to the session, and orders the writes to it, because Jedis does not.
 * The session's thread reads messages without the lock, and fires their signals outside of it; it
 * takes the lock only for confirmed and unsubscribed channels. All methods that are not private are
 * called under the lock; the thread of the session calls those of the listener, without it.
 */
final class NodeSubscriber implements SubscriberSession.Listener {
  private static final Logger LOG = LoggerFactory.getLogger(NodeSubscriber.class);
  private static final long FIRST_PAUSE_NANOS = 20_000_000L;
  private static final long MAX_PAUSE_NANOS = 1_000_000_000L;

  /** The longest pause after a channel has moved: the others of the server must not wait for it. */
  private static final long MOVED_PAUSE_NANOS = 100_000_000L;

  /** The calls of a subscriber to its owner. */
  interface Callbacks {
    /**
     * Handles a broken connection, or a channel that the server has dropped: channels may have
     * moved.
     *
     * @param connection whether the connection broke
     */
    void onConnectionLost(boolean connection);

    /** Handles a channel that has brought many messages for nobody. */
    void onUnheard();

    boolean isClosed();

    /** Handles a subscriber that has no channels and no thread any more; called under the lock. */
    void onEnd(NodeSubscriber subscriber);
  }

  private final SubscriptionEndpoint endpoint;
  private final ReentrantLock lock;
  private final NodeSubscriber.Callbacks callbacks;
  private final WorkerPool workers;
  private final Ticker ticker;
  private final long answerNanos;
  private final LongConsumer park;
  private final NodeChannels channels;
  private final RepeatedFailureLog threadFailures;
  private final RepeatedFailureLog errors;

  // Both guarded by the lock.
  private @Nullable SubscriberSession session;
  private @Nullable Thread thread;

  /** The number of calls of {@link #reconnect}. */
  private final AtomicLong reconnects = new AtomicLong();

  // Only the subscriber thread uses these.
  private final Backoff backoff;

  /** Whether the log says that the connection broke. */
  private boolean outageLogged;

  /** Whether a connection broke since the owner was last notified of one. */
  private boolean lost;

  /**
   * @param answerNanos how long connecting may take
   * @param random returns values from 0 inclusive to 1 exclusive
   * @param park waits for so many nanoseconds, or until the thread is unparked
   */
  NodeSubscriber(
      SubscriptionEndpoint endpoint,
      ReentrantLock lock,
      NodeSubscriber.Callbacks callbacks,
      WorkerPool workers,
      Ticker ticker,
      long answerNanos,
      DoubleSupplier random,
      LongConsumer park) {
    this.endpoint = endpoint;
    this.lock = lock;
    this.callbacks = callbacks;
    this.workers = workers;
    this.ticker = ticker;
    this.answerNanos = answerNanos;
    this.backoff = new Backoff(FIRST_PAUSE_NANOS, MAX_PAUSE_NANOS, random);
    this.park = park;
    this.channels = new NodeChannels(this::groupOf);
    this.threadFailures =
        new RepeatedFailureLog(
            LOG, "no thread can be started for the subscription to " + endpoint + "; waiters poll");
    this.errors =
        new RepeatedFailureLog(
            LOG, "the subscription to " + endpoint + " is renewed after an error");
  }

  SubscriptionEndpoint endpoint() {
    return endpoint;
  }

  private int groupOf(String channel) {
    return endpoint.isSharded() ? JedisClusterCRC16.getSlot(channel) : 0;
  }

  void add(Collection<WakeupChannel> added) {
    for (WakeupChannel channel : added) {
      channels.add(channel);
      channel.subscriber = this; // last: after an error the channel is routed again
    }
    subscribePending();
  }

  private void start() {
    try {
      Thread next = workers.threads("subscriber").newThread(this::keepSubscribed);
      next.start();
      thread = next;
      threadFailures.succeeded();
    } catch (OutOfMemoryError noThread) {
      threadFailures.failed(noThread); // each waiter tries again
    }
  }

  /** Returns whether there is more than one channel. */
  boolean hasOthers() {
    return channels.size() > 1;
  }

  /** Returns whether the channel can be removed now; not while its connection is replaced. */
  boolean canRemove(WakeupChannel channel) {
    return !channel.requested || (session != null && session.isLive());
  }

  /** Removes these channels; with the last one the connection ends. */
  void remove(Collection<WakeupChannel> removed) {
    for (WakeupChannel channel : removed) {
      channel.subscriber = null; // first: after an error the channel is routed again
      channels.remove(channel);
    }
    if (!channels.isEmpty()) {
      subscribePending();
    } else if (session != null) {
      session.end();
    }
    if (!hasThread() && channels.isEmpty()) {
      callbacks.onEnd(this); // without a thread that would do it
    }
  }

  /**
   * Removes the channels that an error has left here: those that were dropped since, and those that
   * do not count as subscribed here.
   *
   * @param all the channels of all subscribers
   */
  void removeStrays(Map<String, WakeupChannel> all) {
    remove(channels.those(each -> all.get(each.name) != each || each.subscriber != this));
  }

  /** Without memory the handler of an error may throw one too, and end the thread. */
  private boolean hasThread() {
    Thread current = thread;
    return current != null && current.isAlive();
  }

  /** Checks whether the connection is alive; returns when to check again. */
  long heartbeat(long nowNanos, long everyNanos, long answerNanos) {
    SubscriberSession current = session;
    // A channel without a confirmation serves too: the pending reply may be that of the first one.
    Optional<String> any = channels.anyName();
    return current == null || any.isEmpty()
        ? nowNanos + everyNanos
        : current.heartbeat(nowNanos, everyNanos, answerNanos, any.get());
  }

  /** Replaces the connection, by one to the present server; all waiters wake up and try. */
  void reconnect() {
    reconnects.incrementAndGet();
    if (session != null) {
      session.disconnect();
    }
    LockSupport.unpark(thread);
  }

  /** Subscribes and unsubscribes the outstanding channels, as far as the session has room. */
  void subscribePending() {
    if (!hasThread() && !channels.isEmpty()) {
      start();
    }
    SubscriberSession current = session;
    if (current == null || !current.isLive()) {
      return; // a session that becomes live subscribes all channels
    }
    if (current.availableBytes() < SubscriberSession.MAX_PENDING_BYTES / 2) {
      return; // the next answers make room
    }
    List<String> next = channels.unrequested(current.availableBytes());
    channels.inGroups(next).forEach(current::subscribe);
    next.forEach(channels::markRequested);
    List<String> last = channels.unsubscribing(current.availableBytes()); // only then
    channels.inGroups(last).forEach(current::unsubscribe);
    last.forEach(channels::markUnsubscribed);
  }

  /** Runs sessions, one after the other, while there are channels: the subscriber thread. */
  private void keepSubscribed() {
    backoff.reset();
    boolean needed = true;
    while (needed) {
      try {
        needed = runSession();
        errors.succeeded();
      } catch (Throwable e) { // an error too must not end the thread while there are waiters
        errors.failed(e);
        park.accept(backoff.nextNanos());
      }
    }
  }

  /** Runs one session, from beginning to end; returns false when there are no channels. */
  private boolean runSession() {
    var unused = Thread.interrupted(); // from outside, as by the thread group: no pause would last
    if (lost && !callbacks.isClosed()) {
      // An error has ended the last session before its owner was notified.
      notifyOwner();
    }
    List<String> first = beginSession();
    if (first.isEmpty()) {
      return false;
    }
    Throwable broken = null;
    try {
      run(first);
    } catch (Throwable e) {
      broken = e;
      lost = !isServerReply(e);
    } finally {
      invalidateAll();
    }
    if (!callbacks.isClosed() && (broken != null || !channels.isEmpty())) {
      notifyOwner(); // before the log, which may fail without memory
      logBroken(broken);
      long pause = backoff.nextNanos();
      boolean moved = broken instanceof JedisRedirectionException;
      park.accept(moved ? Math.min(pause, MOVED_PAUSE_NANOS) : pause);
    }
    return true;
  }

  private void notifyOwner() {
    callbacks.onConnectionLost(lost);
    lost = false; // not before: after an error the next session begins with it
  }

  /**
   * Returns whether a living server has refused the connection, as one that takes no more clients
   * does, or a channel, as one to which the user lacks the right.
   */
  private static boolean isServerReply(Throwable broken) {
    return broken instanceof CommandException connecting
        ? connecting.isServerReply()
        : broken instanceof JedisDataException;
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
      List<String> fitting = channels.unrequested(SubscriberSession.MAX_PENDING_BYTES);
      List<String> first = channels.inGroups(fitting).get(0);
      first.forEach(channels::markRequested);
      return first;
    } finally {
      lock.unlock();
    }
  }

  private void run(List<String> first) throws CommandException {
    long before = reconnects.get();
    Connection connection = endpoint.connect(Deadline.after(answerNanos, ticker));
    SubscriberSession next = new SubscriberSession(connection, endpoint.isSharded(), this, ticker);
    lock.lock();
    try {
      session = next;
      if (callbacks.isClosed() || channels.isEmpty()) {
        next.end();
      } else if (reconnects.get() != before) {
        next.disconnect(); // another server has replaced this one since
      }
    } finally {
      lock.unlock();
    }
    try {
      next.run(first);
    } finally {
      // A shorter one is no recovery: the server may confirm a channel, and refuse the next one.
      boolean sound = next.liveNanos() >= MAX_PAUSE_NANOS;
      outageLogged &= !sound;
      if (sound || next.isEnding() || reconnects.get() != before) { // or it was ended from here
        backoff.reset();
      }
    }
  }

  /** Logs a broken connection, once for each outage, not for each attempt. */
  private void logBroken(@Nullable Throwable cause) {
    if (cause == null) {
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
      channels.invalidateAll();
    } finally {
      lock.unlock();
    }
  }

  // ---- answers and messages, on the thread of the session

  @Override
  public void confirmed(SubscriberSession by, String name) {
    WakeupChannel channel;
    lock.lock();
    try {
      subscribePending(); // channels added since the first request
      channel = channels.get(name);
      if (channel == null || !channel.requested || channel.confirmed || by.isUnsubscribing(name)) {
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
    if (channel == null) {
      return;
    }
    channel.signal.fire();
    if (channel.isUnheard() && hasOthers()) {
      callbacks.onUnheard();
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
      if (!channels.invalidate(name)) {
        return;
      }
    } finally {
      lock.unlock();
    }
    callbacks.onConnectionLost(false);
  }
}
