package io.mortise.connection.pubsub;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.JedisShardedPubSub;
import redis.clients.jedis.exceptions.JedisException;

/**
 * One subscriber connection, from its first SUBSCRIBE until it breaks or is ended.
 *
 * <p>Writing has no time limit, and is done under a lock that everybody needs. So no more is
 * written before the server has answered than a socket takes at once: see {@link #room}. The server
 * answers each channel of each command.
 *
 * <p>{@code run} is called once, by the subscriber thread, and returns when the connection is over.
 * The writing methods are called under the lock of {@link Subscriptions}; what fails there shows in
 * {@code run} too, which reads the same socket.
 */
final class SubscriberSession {
  private static final Logger LOG = LoggerFactory.getLogger(SubscriberSession.class);

  /** What arrives; called by the subscriber thread. */
  interface Listener {
    void confirmed(String channel);

    void message(String channel);

    /** The server has unsubscribed the channel, as it was asked to. */
    void left();

    /** The server has unsubscribed the channel without being asked: its slot may have moved. */
    void dropped(String channel);
  }

  /** So many bytes of names may wait for an answer. */
  static final int ROOM_BYTES = 16 * 1024;

  /** What stands around a name on the wire, at most. */
  private static final int AROUND_BYTES = 16;

  private final Connection connection;
  private final Listener listener;
  private final Words words;
  private volatile boolean live;
  private volatile boolean ending;

  /** Set before the socket is closed: Jedis would connect it anew at the next write. */
  private volatile boolean dead;

  /** When the server was last asked for something, at first for the channels. */
  private volatile long askedNanos = System.nanoTime();

  private volatile long heardNanos = askedNanos - 1;

  // What the server has still to answer: added to by those who write, taken from by the reader.
  private final Set<String> subscribing = ConcurrentHashMap.newKeySet();
  private final Set<String> leaving = ConcurrentHashMap.newKeySet();
  private final AtomicInteger owedBytes = new AtomicInteger();

  /**
   * @param sharded whether channels have slots
   */
  SubscriberSession(Connection connection, boolean sharded, Listener listener) {
    this.connection = connection;
    this.listener = listener;
    this.words = sharded ? new Sharded() : new Plain();
  }

  /** Subscribes and reads until the end. */
  void run(List<String> first) {
    if (dead) {
      return;
    }
    replyPending(subscribing, first);
    try {
      words.proceed(first.toArray(String[]::new));
    } catch (JedisException e) {
      if (!ending) {
        throw e;
      }
    } finally {
      live = false;
      disconnect();
    }
  }

  /** Whether the server has answered, so that more may be written. */
  boolean isLive() {
    return live && !ending;
  }

  /** How many bytes of names may be written now; see {@link #bytes}. */
  int room() {
    return ROOM_BYTES - owedBytes.get();
  }

  static int bytes(String channel) {
    return channel.length() + AROUND_BYTES;
  }

  private void replyPending(Set<String> answers, List<String> channels) {
    for (String channel : channels) {
      if (answers.add(channel)) {
        owedBytes.addAndGet(bytes(channel));
      }
    }
  }

  /** Whether that answer was owed. */
  private boolean isPaid(Set<String> answers, String channel) {
    boolean owed = answers.remove(channel);
    if (owed) {
      owedBytes.addAndGet(-bytes(channel));
    }
    return owed;
  }

  void subscribe(List<String> channels) {
    replyPending(subscribing, channels);
    write(() -> words.ask(channels.toArray(String[]::new)));
  }

  void unsubscribe(List<String> channels) {
    replyPending(leaving, channels);
    write(() -> words.leave(channels.toArray(String[]::new)));
  }

  /**
   * Asks a connection that was silent for a sign of life, and breaks one that has owed an answer
   * for too long. Half-open connections show in no other way.
   *
   * <p>Not by PING, whose answer Jedis does not expect over RESP3 if it comes quickly, but by
   * subscribing again what is subscribed already: the server confirms it again.
   *
   * @param answerNanos how long an answer may take
   * @param channel one that is subscribed
   * @return when to look again
   */
  long heartbeat(long nowNanos, long everyNanos, long answerNanos, String channel) {
    boolean owes = askedNanos - heardNanos > 0;
    if (owes && nowNanos - askedNanos >= answerNanos) {
      disconnect();
      return nowNanos + everyNanos;
    }
    if (!owes && nowNanos - heardNanos > everyNanos / 2) {
      askedNanos = nowNanos;
      owes = true;
      write(() -> words.ask(channel));
    }
    return owes ? askedNanos + answerNanos : nowNanos + everyNanos;
  }

  /** Ends the session because nobody waits any more. */
  void end() {
    ending = true;
    disconnect();
  }

  /** Closes the socket, which is the one thing that stops the reading thread. */
  void disconnect() {
    dead = true;
    try {
      connection.forceDisconnect();
    } catch (IOException e) {
      LOG.debug("a subscriber connection could not be closed", e);
    }
  }

  private void write(Runnable command) {
    try {
      command.run();
    } catch (JedisException broken) {
      dead = true;
    }
    if (dead) {
      disconnect();
    }
  }

  private void confirmed(String channel) {
    if (dead) {
      disconnect();
      return;
    }
    heardNanos = System.nanoTime();
    live = true;
    isPaid(subscribing, channel);
    listener.confirmed(channel);
  }

  private void heard(String channel) {
    heardNanos = System.nanoTime();
    listener.message(channel);
  }

  private void unsubscribed(String channel) {
    heardNanos = System.nanoTime();
    if (isPaid(leaving, channel)) {
      listener.left();
    } else {
      listener.dropped(channel);
    }
  }

  // ---- the two ways in which Jedis says it

  private interface Words {
    /** Subscribes, and reads until the end. */
    void proceed(String... channels);

    void ask(String... channels);

    void leave(String... channels);
  }

  private final class Plain extends JedisPubSub implements Words {
    @Override
    public void proceed(String... channels) {
      proceed(connection, channels);
    }

    @Override
    public void ask(String... channels) {
      subscribe(channels);
    }

    @Override
    public void leave(String... channels) {
      unsubscribe(channels);
    }

    @Override
    public void onSubscribe(String channel, int subscribedChannels) {
      confirmed(channel);
    }

    @Override
    public void onUnsubscribe(String channel, int subscribedChannels) {
      unsubscribed(channel);
    }

    @Override
    public void onMessage(String channel, String message) {
      heard(channel);
    }
  }

  private final class Sharded extends JedisShardedPubSub implements Words {
    @Override
    public void proceed(String... channels) {
      proceed(connection, channels);
    }

    @Override
    public void ask(String... channels) {
      ssubscribe(channels);
    }

    @Override
    public void leave(String... channels) {
      sunsubscribe(channels);
    }

    @Override
    public void onSSubscribe(String channel, int subscribedChannels) {
      confirmed(channel);
    }

    @Override
    public void onSMessage(String channel, String message) {
      heard(channel);
    }

    @Override
    public void onSUnsubscribe(String channel, int subscribedChannels) {
      unsubscribed(channel);
    }
  }
}
