package io.mortise.core;

import io.mortise.core.internal.engine.RedisLockClient;
import java.util.Objects;
import redis.clients.jedis.UnifiedJedis;

/**
 * A process' access to its locks: the connections, the renewal of what is held, the subscription by
 * which waiters are woken. One for each Redis is enough for a whole application; it is safe for use
 * by many threads.
 *
 * <p>A client connects when it is first needed. It runs one scheduler thread, one subscriber thread
 * while somebody waits (or has done so lately), and a few workers that end when idle; all are
 * daemons.
 *
 * <p><b>Failover.</b> When a connection breaks, the sentinels name another master, or slots of a
 * cluster have another one, all holds are verified at once: each is kept, or told lost ({@link
 * LeaseLoss.Reason#MISSING}) because the new master does not know it. Whoever waits asks the new
 * master.
 *
 * <p><b>Cluster.</b> All keys of a lock are in one slot. Commands go to the slot's master, and
 * follow it; while a slot is on its way to another node its locks cannot be used, and whoever waits
 * waits on. Messages are sharded (SPUBLISH) when all masters know that (Redis 7), which is asked
 * once: restart the clients after such an upgrade. While something is held or waited for the client
 * asks one of the nodes every 200 ms who has which slots.
 *
 * <p><b>Sentinels.</b> Those that the URI names are asked every 200 ms while something is held or
 * waited for, and otherwise every 2 s, who is the master; nothing depends on their messages.
 *
 * <p><b>Eviction.</b> A server that evicts keys when its memory is full ({@code maxmemory} with a
 * {@code maxmemory-policy} other than {@code noeviction}) may evict a lock that is held, and grant
 * it to somebody else. The client warns of such a server in its log, once, when it first connects.
 *
 * <p>In Redis it uses the key of the lock's name, {@code redisson_lock_token:{name}} for the
 * fencing token, {@code mortise_forced:{name}} after a forced release, and the channel {@code
 * redisson_lock__channel:{name}}.
 */
public sealed interface LockClient extends AutoCloseable permits RedisLockClient {

  /** As {@link #create(String, LockOptions)} with the defaults. */
  static LockClient create(String uri) {
    return create(uri, LockOptions.defaults());
  }

  /**
   * A client with connections of its own.
   *
   * @param uri {@code redis://[[user]:password@]host[:port][/database]} for one server; {@code
   *     redis://[[user]:password@]host[:port],host[:port]...}, with several nodes, or {@code
   *     redis-cluster://} with one or more, for a Redis Cluster; {@code
   *     redis-sentinel://[[user]:password@]host[:port],host[:port]...[/database]#master} for the
   *     master that these sentinels watch under that name: credentials and database are the
   *     master's, sentinels that want a password need a {@code RedisSentinelClient}. With {@code
   *     rediss} instead of {@code redis} over TLS, with the JVM's trusted certificates. User and
   *     password are percent-encoded. {@code ?protocol=2} or {@code ?protocol=3} behind the hosts,
   *     or the database, chooses the version of Redis' protocol; other settings are in the options
   * @throws IllegalArgumentException if that is not such a URI; the message shows nothing of user
   *     and password
   */
  static LockClient create(String uri, LockOptions options) {
    Objects.requireNonNull(uri, "uri");
    Objects.requireNonNull(options, "options");
    return RedisLockClient.create(uri, options);
  }

  /** As {@link #create(UnifiedJedis, LockOptions)} with the defaults. */
  static LockClient create(UnifiedJedis jedis) {
    return create(jedis, LockOptions.defaults());
  }

  /**
   * A client on the connections of a Jedis client, which the caller closes after this one.
   *
   * <p>Commands borrow from its pool; give that at least as many connections as threads lock at the
   * same time. The subscription has a connection of its own besides. Connecting takes as long as
   * the Jedis client's own time-outs allow.
   *
   * @param jedis a {@code redis.clients.jedis.RedisClient}, {@code RedisSentinelClient} or {@code
   *     RedisClusterClient}; the nodes of the latter are used under the addresses that the cluster
   *     itself tells, without its {@code HostAndPortMapper}. Behind sentinels the master is the one
   *     that the Jedis client knows: it listens to them without a heartbeat, and misses a failover
   *     when these connections are half-open; a client that is made from a URI asks for itself
   * @throws IllegalArgumentException if it is a client of another type
   */
  static LockClient create(UnifiedJedis jedis, LockOptions options) {
    Objects.requireNonNull(jedis, "jedis");
    Objects.requireNonNull(options, "options");
    return RedisLockClient.create(jedis, options);
  }

  /** The random id of this client, with which all its holders in Redis begin. */
  String id();

  /** The settings. */
  LockOptions options();

  /** Whether {@link #close()} was called. */
  boolean isClosed();

  /** What this client has in hand at this moment, for metrics and for finding leaks. */
  Status status();

  /**
   * Ends the client. Threads that wait get a {@link LockException}; what is held is released and
   * told lost ({@link LeaseLoss.Reason#CLIENT_CLOSED}); threads, connections and subscriptions end.
   * A Jedis client of the caller's stays open. Takes about one {@link LockOptions#commandTimeout()}
   * at the most, when Redis does not answer; a second call does nothing.
   *
   * <p>When Redis does not answer in that time, the releases are written all the same, and take
   * effect when it goes on. What remains then: an attempt that was under way may take effect after
   * them, and leaves a hold for one lease, or a place in a queue for one presence time.
   */
  @Override
  void close();

  /**
   * What a client has in hand. All zero when nothing is held, nobody waits, and channels have
   * lingered out.
   *
   * @param holds leases that are held
   * @param contended names for which a thread of this client waits, or which one holds
   * @param channels channels that are subscribed: waited on, lingering, or ahead of those to come
   * @param pendingReleases releases that are repeated in the background
   * @param scheduled what the scheduler looks after: holds, waiters, lingering channels,
   *     repetitions
   * @param connectionsInUse connections on which a command is on its way
   */
  record Status(
      int holds,
      int contended,
      int channels,
      int pendingReleases,
      int scheduled,
      int connectionsInUse) {}
}
