package io.mortise.connection.pubsub;

import com.google.common.base.Ticker;
import io.mortise.connection.pool.RedisConnection;
import io.mortise.connection.pool.SocketBuffers;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.JedisShardedPubSub;
import redis.clients.jedis.exceptions.JedisException;

/**
 * One subscriber connection, from its first SUBSCRIBE until it breaks or is ended.
 *
 * <p>Writing has no time limit, and happens under a lock that all waiters need. So no more is
 * written before the server has answered than the {@link SocketBuffers} take at once: see {@link
 * #availableBytes}. The server answers each channel of each command.
 *
 * <p><b>Threads.</b> The subscriber thread calls {@code run} once; it returns when the connection
 * is over. The writing methods are called under the lock of {@link Subscriptions}; a failure there
 * shows in {@code run} too, which reads the same socket.
 */
final class SubscriberSession {
  private static final Logger LOG = LoggerFactory.getLogger(SubscriberSession.class);

  /** Receives answers and messages; called by the subscriber thread. */
  interface Listener {
    void confirmed(SubscriberSession by, String channel);

    void message(String channel);

    /** Handles a channel that the server has unsubscribed on request. */
    void unsubscribed();

    /** Handles a channel that the server has unsubscribed by itself: its slot may have moved. */
    void dropped(String channel);
  }

  /** The maximum number of bytes of names without an answer. */
  static final int MAX_PENDING_BYTES = SocketBuffers.MIN_BYTES;

  private final Connection connection;
  private final Listener listener;
  private final Ticker ticker;
  private final PubSubCommands commands;
  private volatile boolean live;
  private volatile boolean ending;

  /** Set before the socket is closed: Jedis would connect it again at the next write. */
  private volatile boolean disconnected;

  /** When the last request was sent; initially the first SUBSCRIBE. */
  private volatile long requestedNanos;

  private volatile long receivedNanos;

  // Only the subscriber thread uses these.
  private long liveFromNanos;
  private long liveNanos;

  private final AtomicInteger pendingBytes = new AtomicInteger();
  private final PendingAnswers pendingSubscribes = new PendingAnswers(pendingBytes);
  private final PendingAnswers pendingUnsubscribes = new PendingAnswers(pendingBytes);

  SubscriberSession(Connection connection, boolean sharded, Listener listener, Ticker ticker) {
    this.connection = connection;
    this.listener = listener;
    this.ticker = ticker;
    this.requestedNanos = ticker.read();
    this.receivedNanos = requestedNanos - 1;
    this.commands = sharded ? sharded() : plain();
  }

  /** Subscribes and reads until the end. */
  void run(List<String> first) {
    if (disconnected) {
      return;
    }
    pendingSubscribes.add(first);
    try {
      commands.run.accept(first.toArray(String[]::new));
    } catch (JedisException e) {
      if (!ending) {
        throw e;
      }
    } finally {
      boolean wasLive = live;
      live = false;
      disconnect();
      liveNanos = wasLive ? ticker.read() - liveFromNanos : 0;
    }
  }

  /** Returns the time from the first answer to the end; 0 without an answer, and before the end. */
  long liveNanos() {
    return liveNanos;
  }

  /** Returns whether the session was ended because it had no channels. */
  boolean isEnding() {
    return ending;
  }

  /** Returns whether the server has answered, so that more may be written. */
  boolean isLive() {
    return live && !ending;
  }

  /** Returns how many bytes of names may be written now; see {@link PendingAnswers#bytes}. */
  int availableBytes() {
    return MAX_PENDING_BYTES - pendingBytes.get();
  }

  void subscribe(List<String> channels) {
    write(
        () -> {
          pendingSubscribes.add(channels);
          commands.subscribe.accept(channels.toArray(String[]::new));
        });
  }

  void unsubscribe(List<String> channels) {
    write(
        () -> {
          pendingUnsubscribes.add(channels);
          commands.unsubscribe.accept(channels.toArray(String[]::new));
        });
  }

  /**
   * Returns whether an UNSUBSCRIBE of the channel has no answer yet: what confirms the channel
   * before that answer is an answer to an earlier request. Called under the lock of the writers.
   */
  boolean isUnsubscribing(String channel) {
    return pendingUnsubscribes.contains(channel);
  }

  /**
   * Sends a heartbeat on a connection that was silent, and closes one whose answer is overdue.
   * Half-open connections show in no other way.
   *
   * <p>The heartbeat subscribes a channel again that is subscribed already: the server confirms it
   * again. A PING would not do: over RESP3 Jedis does not expect its answer if that comes quickly.
   *
   * @param answerNanos how long an answer may take
   * @param channel a subscribed channel
   * @return when to check again
   */
  long heartbeat(long nowNanos, long everyNanos, long answerNanos, String channel) {
    boolean replyPending = requestedNanos - receivedNanos > 0;
    if (replyPending && nowNanos - requestedNanos >= answerNanos) {
      disconnect();
      return nowNanos + everyNanos;
    }
    if (!replyPending && nowNanos - receivedNanos > everyNanos / 2) {
      requestedNanos = nowNanos;
      replyPending = true;
      write(() -> commands.subscribe.accept(new String[] {channel}));
    }
    return replyPending ? requestedNanos + answerNanos : nowNanos + everyNanos;
  }

  /** Ends the session because it has no channels any more. */
  void end() {
    ending = true;
    disconnect();
  }

  /** Closes the socket, which is the one thing that stops the reading thread. */
  void disconnect() {
    disconnected = true;
    RedisConnection.disconnect(connection);
  }

  /**
   * Writes a command, unless the session has ended. A write that does not end normally, as after an
   * error, ends the session: nobody knows which answers it may still expect.
   */
  private void write(Runnable command) {
    boolean written = false;
    try {
      if (!disconnected) {
        command.run();
        written = true;
      }
    } catch (JedisException broken) {
      LOG.debug("a subscriber connection broke at a write", broken);
    } finally {
      if (!written || disconnected) {
        disconnect();
      }
    }
  }

  private void confirmed(String channel) {
    if (disconnected) {
      disconnect();
      return;
    }
    receivedNanos = ticker.read();
    if (!live) {
      readWithoutLimit();
      liveFromNanos = receivedNanos;
    }
    live = true;
    pendingSubscribes.remove(channel);
    listener.confirmed(this, channel);
  }

  /**
   * Lets the reads after the first answer take any time: a channel may be silent, and a heartbeat
   * finds a dead connection. {@code proceed} of Jedis gives a subscription the {@code
   * blockingSocketTimeoutMillis} of the client that made its connection, before it subscribes. That
   * limit counts for the first answer only.
   */
  private void readWithoutLimit() {
    connection.setSoTimeout(0);
  }

  private void messageReceived(String channel) {
    receivedNanos = ticker.read();
    listener.message(channel);
  }

  private void unsubscribed(String channel) {
    receivedNanos = ticker.read();
    if (pendingUnsubscribes.remove(channel)) {
      listener.unsubscribed();
    } else {
      listener.dropped(channel);
    }
  }

  // ---- the commands of Jedis, with and without sharded channels

  /** The commands of Jedis; the first one also reads until the end. */
  private record PubSubCommands(
      Consumer<String[]> run, Consumer<String[]> subscribe, Consumer<String[]> unsubscribe) {}

  private PubSubCommands plain() {
    JedisPubSub plain =
        new JedisPubSub() {
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
            messageReceived(channel);
          }
        };
    return new PubSubCommands(
        channels -> plain.proceed(connection, channels), plain::subscribe, plain::unsubscribe);
  }

  private PubSubCommands sharded() {
    JedisShardedPubSub sharded =
        new JedisShardedPubSub() {
          @Override
          public void onSSubscribe(String channel, int subscribedChannels) {
            confirmed(channel);
          }

          @Override
          public void onSUnsubscribe(String channel, int subscribedChannels) {
            unsubscribed(channel);
          }

          @Override
          public void onSMessage(String channel, String message) {
            messageReceived(channel);
          }
        };
    return new PubSubCommands(
        channels -> sharded.proceed(connection, channels),
        sharded::ssubscribe,
        sharded::sunsubscribe);
  }
}
