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
 * The channels of one server, over one connection and its thread, which exist while there are
 * channels. When the connection breaks it is made anew, the channels are subscribed again, and
 * everybody is woken to try: what was published meanwhile is gone.
 *
 * <p><b>Threads.</b> {@code lock}, which is that of {@link Subscriptions}, guards the set of
 * channels and what was asked of the session, and orders what is written to it, because Jedis does
 * not. The session's thread reads messages and takes the lock only to confirm; signals of messages
 * are fired outside of it. What is not private is called under the lock.
 */
final class NodeSubscriber {
  private static final Logger LOG = LoggerFactory.getLogger(NodeSubscriber.class);
  private static final long FIRST_PAUSE_NANOS = 20_000_000L;
  private static final long MOST_PAUSE_NANOS = 1_000_000_000L;

  /** What a subscriber asks of those around it. */
  interface Callbacks {
    /** The connection broke, or a server has dropped a channel: channels may be elsewhere now. */
    void onConnectionLost(boolean connection);

    boolean isClosed();

    /** Called under the lock, when it has no channels and no thread any more. */
    void onEnd(NodeSubscriber subscriber);

    /** Channels with equal numbers may be asked for in one command. */
    int groupOf(String channel);
  }

  private final SubscriptionEndpoint post;
  private final boolean sharded;
  private final ReentrantLock lock;
  private final NodeSubscriber.Callbacks surroundings;
  private final WorkerPool workers;

  /** Written under the lock; read without it by the session. */
  private final Map<String, WakeupChannel> channels = new ConcurrentHashMap<>();

  /** Those of them that the session has still to be asked for; guarded by the lock. */
  private final Set<WakeupChannel> missing = new LinkedHashSet<>();

  /** Names that the session has still to leave; guarded by the lock. */
  private final Set<String> leaving = new LinkedHashSet<>();

  // Both guarded by the lock.
  private @Nullable SubscriberSession session;
  private @Nullable Thread thread;

  /** How often the connection was to be made anew; guarded by the lock. */
  private long renewals;

  /** Whether the log knows that the connection is broken; the subscriber thread's alone. */
  private boolean tellsOfOutage;

  NodeSubscriber(
      SubscriptionEndpoint post,
      boolean sharded,
      ReentrantLock lock,
      NodeSubscriber.Callbacks surroundings,
      WorkerPool workers) {
    this.post = post;
    this.sharded = sharded;
    this.lock = lock;
    this.surroundings = surroundings;
    this.workers = workers;
  }

  SubscriptionEndpoint post() {
    return post;
  }

  void add(Collection<WakeupChannel> some) {
    for (WakeupChannel channel : some) {
      channel.subscriber = this;
      channels.put(channel.name, channel);
      missing.add(channel);
      leaving.remove(channel.name);
    }
    subscribeMissing();
  }

  private void start() {
    try {
      Thread next = workers.threads("subscriber").newThread(this::keepSubscribed);
      next.start();
      thread = next;
    } catch (OutOfMemoryError noThread) {
      LOG.error("no thread can be started to hear {}; waiters poll", post, noThread);
    }
  }

  /** Whether the channel can be left now: while its connection is made anew it cannot. */
  boolean canLeave(WakeupChannel channel) {
    return !channel.asked || (session != null && session.isLive());
  }

  /** Leaves these channels; with the last one the connection ends. */
  void remove(Collection<WakeupChannel> some) {
    for (WakeupChannel channel : some) {
      channels.remove(channel.name);
      missing.remove(channel);
      if (channel.asked) {
        leaving.add(channel.name);
      }
      channel.subscriber = null;
      channel.asked = false;
    }
    if (!channels.isEmpty()) {
      subscribeMissing();
    } else if (session != null) {
      session.end();
    }
    if (thread == null && channels.isEmpty()) {
      surroundings.onEnd(this); // no thread could be started that would say so
    }
  }

  /** Asks the connection whether it lives; when to do so again. */
  long heartbeat(long nowNanos, long everyNanos, long answerNanos) {
    SubscriberSession current = session;
    // One that is not confirmed serves too: it may be the answer to the first that is owed.
    Optional<WakeupChannel> any =
        channels.values().stream().max(Comparator.comparing(channel -> channel.confirmed));
    return current == null || any.isEmpty()
        ? nowNanos + everyNanos
        : current.heartbeat(nowNanos, everyNanos, answerNanos, any.get().name);
  }

  /** Makes the connection anew, to whichever server it is now; everybody wakes up and asks. */
  void reconnect() {
    renewals++;
    if (session != null) {
      session.disconnect();
    }
    LockSupport.unpark(thread);
  }

  /** Sees to it that all its channels are asked for, and others left, as there is room for it. */
  void subscribeMissing() {
    if (thread == null && !channels.isEmpty()) {
      start();
    }
    SubscriberSession current = session;
    if (current == null || !current.isLive()) {
      return; // as soon as the session is live it is asked for all channels
    }
    if (current.room() < SubscriberSession.ROOM_BYTES / 2) {
      return; // the next answers make room
    }
    List<String> next = fitting(missing.stream().map(channel -> channel.name), current.room());
    inGroups(next).forEach(current::subscribe);
    next.forEach(this::asked);
    // Only then: the last channel that is left would end the session.
    List<String> last = missing.isEmpty() ? fitting(leaving.stream(), current.room()) : List.of();
    inGroups(last).forEach(current::unsubscribe);
    last.forEach(leaving::remove);
  }

  private void asked(String name) {
    WakeupChannel channel = channels.get(name);
    if (channel != null) {
      channel.asked = true;
      missing.remove(channel);
    }
  }

  /** The first of them; the last of these may be too long. */
  private static List<String> fitting(Stream<String> names, int room) {
    List<String> some = new ArrayList<>();
    int left = room;
    for (Iterator<String> each = names.iterator(); left > 0 && each.hasNext(); ) {
      String name = each.next();
      some.add(name);
      left -= SubscriberSession.bytes(name);
    }
    return some;
  }

  /** One command for each group. */
  private List<List<String>> inGroups(Collection<String> names) {
    return List.copyOf(
        names.stream().collect(Collectors.groupingBy(surroundings::groupOf)).values());
  }

  /** The subscriber thread: sessions, one after the other, while there are channels. */
  private void keepSubscribed() {
    Backoff backoff = new Backoff(FIRST_PAUSE_NANOS, MOST_PAUSE_NANOS, Math::random);
    boolean goesOn = true;
    while (goesOn) {
      try {
        goesOn = hasSession(backoff);
      } catch (Throwable e) { // an error too must not end the thread while somebody waits
        tellError(e);
        LockSupport.parkNanos(this, backoff.nextNanos());
      }
    }
  }

  private void tellError(Throwable thrown) {
    try {
      LOG.error("the subscription to {} is made anew after an error", post, thrown);
    } catch (Throwable noLog) {
      // There is not even memory for a message: it goes on all the same.
    }
  }

  /** Has one session, from beginning to end; false when nobody needs it. */
  private boolean hasSession(Backoff backoff) {
    List<String> first = begin();
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
      tellBroken(broken);
    }
    if (!surroundings.isClosed() && (broken != null || !channels.isEmpty())) {
      surroundings.onConnectionLost(broken != null);
      LockSupport.parkNanos(this, backoff.nextNanos());
    }
    return true;
  }

  /** The channels to ask for first; none when the thread ends. */
  private List<String> begin() {
    lock.lock();
    try {
      invalidateAll(); // if an error has kept that from being done
      if (surroundings.isClosed() || channels.isEmpty()) {
        thread = null;
        surroundings.onEnd(this);
        return List.of();
      }
      List<String> some =
          fitting(missing.stream().map(channel -> channel.name), SubscriberSession.ROOM_BYTES);
      List<String> first = inGroups(some).get(0);
      first.forEach(this::asked);
      return first;
    } finally {
      lock.unlock();
    }
  }

  private void run(List<String> first, Backoff backoff) throws CommandException {
    long before = renewals();
    SubscriberSession next = new SubscriberSession(post.connect(), sharded, new Events(backoff));
    lock.lock();
    try {
      session = next;
      if (surroundings.isClosed() || channels.isEmpty()) {
        next.end();
      } else if (renewals != before) {
        next.disconnect(); // meanwhile another server has become the right one
      }
    } finally {
      lock.unlock();
    }
    next.run(first);
  }

  private long renewals() {
    lock.lock();
    try {
      return renewals;
    } finally {
      lock.unlock();
    }
  }

  /** Once an outage, not once an attempt. */
  private void tellBroken(Throwable cause) {
    if (surroundings.isClosed()) {
      return;
    }
    if (!tellsOfOutage) {
      tellsOfOutage = true;
      LOG.warn("the subscription to {} broke and is made anew: {}", post, cause.toString());
    } else {
      LOG.debug("the subscription to {} could not be made anew yet", post, cause);
    }
  }

  private void invalidateAll() {
    lock.lock();
    try {
      session = null;
      leaving.clear();
      missing.addAll(channels.values());
      for (WakeupChannel channel : channels.values()) {
        if (channel.asked) {
          channel.invalidate();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** What the session's thread hears. */
  private final class Events implements Listener {
    private final Backoff backoff;

    Events(Backoff backoff) {
      this.backoff = backoff;
    }

    @Override
    public void confirmed(String name) {
      backoff.reset();
      tellsOfOutage = false;
      WakeupChannel channel;
      lock.lock();
      try {
        subscribeMissing(); // what was added between the first request and now
        channel = channels.get(name);
        if (channel == null || !channel.asked || channel.confirmed) {
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
    public void left() {
      lock.lock();
      try {
        subscribeMissing(); // there is room again
      } finally {
        lock.unlock();
      }
    }

    @Override
    public void dropped(String name) {
      lock.lock();
      try {
        WakeupChannel channel = channels.get(name);
        if (channel == null || !channel.asked) {
          return; // as it was asked to
        }
        channel.invalidate();
        missing.add(channel);
      } finally {
        lock.unlock();
      }
      surroundings.onConnectionLost(false);
    }
  }
}
