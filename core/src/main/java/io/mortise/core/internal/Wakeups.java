package io.mortise.core.internal;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.core.internal.SubscriberSession.Listener;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The channels on which somebody waits, over one subscriber connection.
 *
 * <p>The connection and its thread exist while there are channels. A channel stays for a while
 * after its last waiter, because contention comes in bursts. When the connection breaks, or does
 * not answer a heartbeat, it is made anew, the channels are subscribed again, and everybody is
 * woken to try: what was published meanwhile is gone. Until the server has confirmed a channel its
 * waiters do not trust it, and poll.
 *
 * <p><b>Threads.</b> {@code lock} guards the set of channels and what was asked of the session, and
 * orders what is written to it, because Jedis does not. The session's thread reads messages and
 * takes the lock only to confirm; signals are fired outside of it.
 */
final class Wakeups implements Scheduler.Timed, AutoCloseable {
  /** So that many waiters' own channels are left in one UNSUBSCRIBE. */
  private static final long PRIVATE_LINGER_NANOS = 50_000_000L;

  private static final long FIRST_PAUSE_NANOS = 20_000_000L;
  private static final long MOST_PAUSE_NANOS = 1_000_000_000L;

  private final RedisNode node;
  private final Workers workers;
  private final Scheduler scheduler;
  private final long lingerNanos;
  private final long heartbeatNanos;
  private final long answerNanos;
  private final Runnable broken;

  private final ReentrantLock lock = new ReentrantLock();

  /** Written under the lock; read without it by the session and by those who only look. */
  private final Map<String, Channel> channels = new ConcurrentHashMap<>();

  @GuardedBy("lock")
  private @Nullable SubscriberSession session;

  @GuardedBy("lock")
  private @Nullable Thread thread;

  /** Whether the log knows that the connection is broken; the subscriber thread's alone. */
  private boolean tellsOfOutage;

  private volatile long dueNanos;
  private volatile boolean closed;

  /**
   * @param lingerNanos how long a channel stays after its last waiter
   * @param heartbeatNanos how long the connection may be silent before it is asked for an answer
   * @param answerNanos how long that answer may take
   * @param broken what to do when the connection broke
   */
  Wakeups(
      RedisNode node,
      Workers workers,
      Scheduler scheduler,
      long lingerNanos,
      long heartbeatNanos,
      long answerNanos,
      Runnable broken) {
    this.node = node;
    this.broken = broken;
    this.workers = workers;
    this.scheduler = scheduler;
    this.lingerNanos = lingerNanos;
    this.heartbeatNanos = heartbeatNanos;
    this.answerNanos = answerNanos;
  }

  /** One waiter's interest in a channel. Closing it gives the interest up. */
  final class Subscription implements AutoCloseable {
    private final Channel channel;

    private Subscription(Channel channel) {
      this.channel = channel;
    }

    Signal signal() {
      return channel.signal;
    }

    /** Whether the server has confirmed the channel, so that a message from now on arrives. */
    boolean confirmed() {
      return channel.confirmed;
    }

    @Override
    public void close() {
      leave(channel);
    }
  }

  private static final class Channel {
    final String name;
    final Signal signal = new Signal();
    volatile boolean confirmed;

    /** Guarded by the lock, as the next two. */
    int waiters;

    boolean asked;
    long idleSinceNanos;

    final boolean lingers;

    Channel(String name, boolean lingers) {
      this.name = name;
      this.lingers = lingers;
    }
  }

  /** Joins a channel that is subscribed already; null when it is not. Costs nothing then. */
  @Nullable Subscription join(String name) {
    return channels.containsKey(name) ? subscribe(name, true) : null;
  }

  /**
   * Sees to it that the channel is subscribed. Does not wait for the server.
   *
   * @param lingers whether the channel stays for a while after its last waiter
   */
  Subscription subscribe(String name, boolean lingers) {
    lock.lock();
    try {
      Channel channel = channels.computeIfAbsent(name, absent -> new Channel(absent, lingers));
      channel.waiters++;
      if (closed) {
        channel.signal.fire();
      } else if (thread == null) {
        thread = workers.threads("subscriber").newThread(this::keepSubscribed);
        thread.start();
        dueNanos = System.nanoTime() + heartbeatNanos;
        scheduler.add(this);
      } else {
        askForMissing();
      }
      return new Subscription(channel);
    } finally {
      lock.unlock();
    }
  }

  private void leave(Channel channel) {
    lock.lock();
    try {
      if (--channel.waiters == 0) {
        channel.idleSinceNanos = System.nanoTime();
        long due = channel.idleSinceNanos + lingerNanos(channel);
        if (due - dueNanos < 0) {
          dueNanos = due;
          scheduler.poke(due);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private long lingerNanos(Channel channel) {
    return channel.lingers ? lingerNanos : Math.min(lingerNanos, PRIVATE_LINGER_NANOS);
  }

  @GuardedBy("lock")
  private void askForMissing() {
    SubscriberSession current = session;
    if (current == null || !current.isLive()) {
      return; // the session asks for all channels as soon as it is live
    }
    List<String> missing = new ArrayList<>();
    for (Channel channel : channels.values()) {
      if (!channel.asked) {
        channel.asked = true;
        missing.add(channel.name);
      }
    }
    if (!missing.isEmpty()) {
      current.subscribe(missing);
    }
  }

  /** The subscriber thread: sessions, one after the other, while there are channels. */
  private void keepSubscribed() {
    Backoff backoff = new Backoff(FIRST_PAUSE_NANOS, MOST_PAUSE_NANOS, Math::random);
    while (true) {
      List<String> first = new ArrayList<>();
      lock.lock();
      try {
        session = null;
        if (closed || channels.isEmpty()) {
          thread = null;
          scheduler.remove(this);
          return;
        }
        for (Channel channel : channels.values()) {
          channel.asked = true;
          first.add(channel.name);
        }
      } finally {
        lock.unlock();
      }
      try {
        SubscriberSession next = new SubscriberSession(node.connect(), new Events(backoff));
        lock.lock();
        try {
          session = next;
          if (closed) {
            next.kill();
          }
        } finally {
          lock.unlock();
        }
        next.run(first);
      } catch (Throwable e) { // an error too must not end the thread while somebody waits
        if (!closed) {
          tellBroken(e);
          broken.run();
        }
      }
      doubtAll();
      if (!closed && !channels.isEmpty()) {
        LockSupport.parkNanos(this, backoff.nextNanos());
      }
    }
  }

  /** Once an outage, not once an attempt. */
  private void tellBroken(Throwable cause) {
    if (!tellsOfOutage) {
      tellsOfOutage = true;
      Engine.LOG.warn("the subscription to {} broke and is made anew: {}", node, cause.toString());
    } else {
      Engine.LOG.debug("the subscription to {} could not be made anew yet", node, cause);
    }
  }

  /** No message arrives any more: everybody wakes up and polls until the channel is confirmed. */
  private void doubtAll() {
    lock.lock();
    try {
      session = null;
      for (Channel channel : channels.values()) {
        channel.asked = false;
        channel.confirmed = false;
      }
    } finally {
      lock.unlock();
    }
    channels.values().forEach(channel -> channel.signal.fire());
  }

  /** Makes the connection anew, to whichever server it is now; everybody wakes up and asks. */
  void renew() {
    lock.lock();
    try {
      if (session != null) {
        session.kill();
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
      lock.lock();
      try {
        askForMissing(); // what was added between the first request and now
      } finally {
        lock.unlock();
      }
      Channel channel = channels.get(name);
      if (channel != null && !channel.confirmed) {
        channel.confirmed = true;
        channel.signal.fire();
      }
    }

    @Override
    public void message(String name) {
      Channel channel = channels.get(name);
      if (channel != null) {
        channel.signal.fire();
      }
    }
  }

  @Override
  public long dueNanos() {
    return dueNanos;
  }

  @Override
  public void onTime(long nowNanos) {
    dueNanos = nowNanos + heartbeatNanos;
    workers.run(this::maintain);
  }

  /** Drops the channels that nobody came back to, and asks the connection whether it lives. */
  private void maintain() {
    lock.lock();
    try {
      long now = System.nanoTime();
      SubscriberSession current = session;
      boolean live = current != null && current.isLive();
      Map<String, Channel> idle = new HashMap<>();
      long due = now + heartbeatNanos;
      for (Channel channel : channels.values()) {
        if (channel.waiters == 0) {
          long over = channel.idleSinceNanos + lingerNanos(channel);
          if (over - now <= 0 && (live || !channel.asked)) {
            idle.put(channel.name, channel);
          } else if (over - due < 0) {
            due = Math.max(over, now + PRIVATE_LINGER_NANOS);
          }
        }
      }
      channels.keySet().removeAll(idle.keySet());
      if (current != null) {
        List<String> asked = idle.values().stream().filter(c -> c.asked).map(c -> c.name).toList();
        if (channels.isEmpty()) {
          current.end();
        } else {
          if (!asked.isEmpty()) {
            current.unsubscribe(asked);
          }
          String any = channels.keySet().iterator().next();
          long look = current.heartbeat(now, heartbeatNanos, answerNanos, any);
          due = look - due < 0 ? look : due;
        }
      }
      dueNanos = due;
    } finally {
      lock.unlock();
    }
    scheduler.poke(dueNanos);
  }

  /** How many channels are subscribed, or linger. */
  int channels() {
    return channels.size();
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      if (session != null) {
        session.kill();
      }
      LockSupport.unpark(thread);
    } finally {
      lock.unlock();
    }
    channels.values().forEach(channel -> channel.signal.fire());
  }
}
