package io.mortise.connection.pool;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisAccessControlException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

/** A connection of the client's own. It knows which server it leads to. */
public final class RedisConnection extends Connection {
  private static final Logger LOG = LoggerFactory.getLogger(RedisConnection.class);
  private static final Pattern RUN_ID = Pattern.compile("(?m)^run_id:(\\S+)");

  private @Nullable String life;

  /** Who hears the answers that come before that of the next command. */
  private final Deque<Consumer<Object>> asked = new ArrayDeque<>(2);

  private RedisConnection(DeadlineSocketFactory sockets, JedisClientConfig config) {
    super(Connection.builder().socketFactory(sockets).clientConfig(config));
  }

  /**
   * Connects and introduces the client, all of it until the deadline.
   *
   * @param addresses of the server's host
   * @throws JedisConnectionException if that fails
   */
  static RedisConnection connect(
      HostAndPort server, HostAddresses addresses, JedisClientConfig config, long deadlineNanos) {
    DeadlineSocketFactory sockets =
        new DeadlineSocketFactory(server, addresses, config.getSslOptions(), deadlineNanos);
    JedisClientConfig bounded =
        DefaultJedisClientConfig.builder()
            .from(config)
            .socketTimeoutMillis(Deadlines.millisUntil(deadlineNanos))
            .build();
    RedisConnection wire = new RedisConnection(sockets, bounded);
    boolean connected = false;
    try {
      wire.initializeFromClientConfig(bounded);
      connected = true;
      return wire;
    } finally {
      if (!connected) {
        sockets.close();
      }
    }
  }

  /** The {@link #serverRunId} of a connection; null of one that is not the client's own. */
  public static @Nullable String serverRunIdOf(Connection connection) {
    return connection instanceof RedisConnection wire ? wire.serverRunId() : null;
  }

  /**
   * Asks the server for the id that it has given itself at its start, along with the first command:
   * that takes no round trip of its own. And whether it may evict keys, while that is not known.
   *
   * @param refusal what to do when the server does not let this user ask
   */
  void requestServerInfo(Runnable refusal, EvictionPolicyCheck eviction) {
    if (!eviction.isKnown()) {
      ask("memory", eviction::hear, eviction::cannotKnow);
    }
    ask("server", this::hearLife, refusal);
  }

  private void ask(String section, Consumer<String> hears, Runnable refusal) {
    sendCommand(new CommandArguments(Command.INFO).add(section));
    asked.add(
        answer -> {
          if (answer instanceof JedisAccessControlException) {
            refusal.run();
          } else if (answer instanceof byte[] text) {
            hears.accept(new String(text, UTF_8));
          } else {
            LOG.debug("{} does not tell of itself: {}", this, answer);
          }
        });
  }

  private void hearLife(String info) {
    Matcher line = RUN_ID.matcher(info);
    life = line.find() ? line.group(1) : null;
  }

  @Override
  protected Object readProtocolWithCheckingBroken() {
    for (Consumer<Object> next = asked.poll(); next != null; next = asked.poll()) {
      next.accept(answerOrRefusal());
    }
    return super.readProtocolWithCheckingBroken();
  }

  private Object answerOrRefusal() {
    try {
      return super.readProtocolWithCheckingBroken();
    } catch (JedisDataException refusal) {
      return refusal;
    }
  }

  /**
   * Which life of which server it leads to: another answer means another server, or the same after
   * a restart. Null before the first answer, and when the server does not tell.
   */
  @Nullable String serverRunId() {
    return life;
  }
}
