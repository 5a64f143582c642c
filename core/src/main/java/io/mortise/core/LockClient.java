package io.mortise.core;

import io.mortise.core.internal.engine.RedisLockClient;
import java.util.Objects;
import redis.clients.jedis.UnifiedJedis;

/**
 * The access of a process to its locks: the connections, the renewal of its holds, and the
 * subscription that wakes its waiters. One client for each Redis is enough for a whole application.
 *
 * <p>A client connects when it is first needed; one that wants {@linkplain
 * LockOptions#acknowledgement() acknowledgements} also when it is created, to see whether its
 * server has the command. It runs one scheduler thread, one subscriber thread while a thread waits
 * (or has waited recently), and a few workers that end when idle; all are daemons. If it has a
 * {@link LockListener}, another daemon calls it.
 *
 * <p><b>Failover.</b> When a connection breaks, the sentinels name another master, or slots of a
 * cluster have another one, all holds are verified immediately: each is kept, or reported lost
 * ({@link LeaseLoss.Reason#MISSING}) because the new master does not have it. Waiters ask the new
 * master.
 *
 * <p><b>Cluster.</b> All keys of a lock are in one slot. Commands go to the slot's master, and
 * follow it; while a slot is being migrated to another node its locks cannot be used, and waiters
 * go on waiting. Messages are sharded (SPUBLISH) when all masters support that (Redis 7). A client
 * notices an upgrade while it holds or waits for a lock, after 5 s at the latest, if each master
 * answers within 200 ms. Until all clients have noticed it, a waiter may miss a message, and asks
 * after 5 s at the latest. While a lock is held or waited for, the client asks one of the nodes for
 * the slot map every 200 ms.
 *
 * <p><b>Sentinels.</b> The sentinels of the URI are asked for the master every 200 ms while a lock
 * is held or waited for, and otherwise every 2 s; the client does not depend on their messages.
 *
 * <p><b>Eviction.</b> A server that evicts keys when its memory is full ({@code maxmemory} with a
 * {@code maxmemory-policy} other than {@code noeviction}) may evict a lock that is held, and grant
 * it to another owner. The client warns of such a server in its log, once, when it first connects.
 *
 * <p><b>Its record.</b> A client whose locks have been in use for ten seconds writes a record of
 * itself, the key {@code mortise_client:{id}}: its host, process, and versions, for {@link
 * DistributedLock#inspect}. It lasts for 10 minutes, is written again while locks are used, and is
 * removed when the client is closed. Locking does not depend on it.
 *
 * <p><b>In Redis</b> it uses the key of the lock's name, {@code redisson_lock_token:{name}} for the
 * fencing token, {@code mortise_waiters:{name}} for those that wait, {@code mortise_forced:{name}}
 * after a forced release, and channels that begin with {@code redisson_lock__channel:{name}}.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 */
public sealed interface LockClient extends AutoCloseable permits RedisLockClient {

  /** As {@link #create(String, LockOptions)} with the defaults. */
  static LockClient create(String uri) {
    return create(uri, LockOptions.defaults());
  }

  /**
   * Creates a client with its own connections.
   *
   * @param uri {@code redis://[[user]:password@]host[:port][/database]} for one server; {@code
   *     redis://[[user]:password@]host[:port],host[:port]...}, with several nodes, or {@code
   *     redis-cluster://} with one or more, for a Redis Cluster; {@code
   *     redis-sentinel://[[user]:password@]host[:port],host[:port]...[/database]#master} for the
   *     master that these sentinels watch under that name: credentials and database are those of
   *     the master; the password of the sentinels is in a {@link ConnectionSecurity}. With {@code
   *     rediss} instead of {@code redis} over TLS, with the JVM's trusted certificates. Without TLS
   *     a host may have underscores. An IPv6 address is in brackets. User and password are
   *     percent-encoded. {@code ?protocol=2} or {@code ?protocol=3} after the hosts, or the
   *     database, chooses the version of Redis' protocol; other settings are in the options
   * @throws IllegalArgumentException if the URI has another form; the message shows no user and no
   *     password
   * @throws LockException if the options want an {@linkplain LockOptions#acknowledgement()
   *     acknowledgement}, and the server does not support it, or refuses this client; not if the
   *     server does not answer
   */
  static LockClient create(String uri, LockOptions options) {
    return create(uri, ConnectionSecurity.NONE, options);
  }

  /**
   * As {@link #create(String, LockOptions)}, with certificates that are not those of the JVM, or a
   * password of the sentinels.
   *
   * @throws IllegalArgumentException if the URI has another form, or the security has what is of no
   *     use for it: a context of TLS without {@code rediss}, or a password of sentinels without
   *     sentinels; the message shows no user and no password
   * @throws LockException as {@link #create(String, LockOptions)} throws it
   */
  static LockClient create(String uri, ConnectionSecurity security, LockOptions options) {
    Objects.requireNonNull(uri, "uri");
    Objects.requireNonNull(security, "security");
    Objects.requireNonNull(options, "options");
    return RedisLockClient.create(uri, security, options);
  }

  /** As {@link #create(UnifiedJedis, LockOptions)} with the defaults. */
  static LockClient create(UnifiedJedis jedis) {
    return create(jedis, LockOptions.defaults());
  }

  /**
   * Creates a client on the connections of a Jedis client, which the caller closes after this one.
   *
   * <p>Commands borrow connections from its pool, which should have at least one for each thread
   * that locks at the same time. The subscription has its own connection in addition. Connecting
   * takes as long as the timeouts of the Jedis client allow.
   *
   * <p>The client does not know the host of a {@code RedisClient} or a {@code RedisSentinelClient}.
   * So the processes do not share an order of such clients, and those that wait for a {@code
   * RedLock} on them get it later than with clients that are created from URIs.
   *
   * @param jedis a {@code redis.clients.jedis.RedisClient}, {@code RedisSentinelClient} or {@code
   *     RedisClusterClient}; the nodes of the latter are used under the addresses that the cluster
   *     itself announces, without its {@code HostAndPortMapper}. With sentinels the master is the
   *     one that the Jedis client knows: it listens to them without a heartbeat, and misses a
   *     failover when these connections are half-open; a client that is created from a URI asks the
   *     sentinels itself
   * @throws IllegalArgumentException if it is a client of another type
   * @throws LockException as {@link #create(String, LockOptions)} throws it
   */
  static LockClient create(UnifiedJedis jedis, LockOptions options) {
    Objects.requireNonNull(jedis, "jedis");
    Objects.requireNonNull(options, "options");
    return RedisLockClient.create(jedis, options);
  }

  /**
   * Returns the plain lock of that name, in the client's namespace; as {@link
   * RedisLock#RedisLock(LockClient, String)}.
   */
  default RedisLock lock(String name) {
    return new RedisLock(this, name);
  }

  /** Returns the random id of this client, the prefix of all its holders in Redis. */
  String id();

  /** Returns the options. */
  LockOptions options();

  /** Returns whether {@link #close()} was called. */
  boolean isClosed();

  /** Returns the status of this client at this moment, for metrics and for finding leaks. */
  Status status();

  /**
   * Checks whether the servers answer, are fit for locks, and allow this client's user what locks
   * need. Sends PING, INFO and TIME; runs a script that writes, publishes and removes, on keys and
   * a channel of its own in the client's namespace, which end by themselves after 5 s; and
   * subscribes that channel on a connection of its own. Of a cluster all masters are asked at the
   * same time.
   *
   * <p>A Redis that cannot be reached, or refuses, is no exception but a finding. All questions
   * together have one {@link LockOptions#commandTimeout()}, however late a server answers each of
   * them; what it did not answer in time is a finding too. On a cluster the slot map is fetched
   * before that, for at most 2 s. On a {@code UnifiedJedis} of the caller, connecting takes as long
   * as its own timeouts allow. An interrupt does not end it; the status is kept.
   *
   * <p>Of a cluster the script is run at each master, with a name of one of its slots. A namespace
   * with a hash tag has one slot: then only the master of that slot has the client's locks, and
   * only there the script is run.
   *
   * @throws LockException if the client is closed
   */
  ServerHealth ping();

  /**
   * Closes the client. Waiters get a {@link LockException}; holds are released and reported lost
   * ({@link LeaseLoss.Reason#CLIENT_CLOSED}); threads, connections and subscriptions end. A Jedis
   * client of the caller stays open. Takes at most about one {@link LockOptions#commandTimeout()},
   * when Redis does not answer or a {@link LockListener} does not return; a second call does
   * nothing.
   *
   * <p>When Redis does not answer in that time, the releases are still written, and take effect
   * when Redis continues. An attempt that was in progress may take effect after them. It then
   * leaves a hold for one lease, or a place in a queue for one waiter timeout.
   */
  @Override
  void close();

  /**
   * The resources that a client has in use at one moment, and two facts about it: {@link
   * #unreachableServers()} and {@link #droppedEvents()}. The resources are all zero when no lock is
   * held, no thread waits, and no channel lingers any more.
   *
   * <p>Not to be implemented by users: later versions may have more methods.
   */
  interface Status {
    /** Returns the number of leases that are held. */
    int holds();

    /** Returns the number of names that threads of this client hold or wait for. */
    int contended();

    /**
     * Returns the number of threads that are parked until they get a lock, each of them once; a
     * thread that sends a command at this moment is not among them. A {@code MultiLock} waits for
     * one member at a time, and a {@code RedLock} at one node, by its client.
     */
    int waiters();

    /**
     * Returns the number of channels that are subscribed: waited on, lingering, or reserved for
     * future waiters.
     */
    int channels();

    /** Returns the number of releases that are repeated in the background. */
    int pendingReleases();

    /** Returns the number of scheduled tasks: of holds, waiters, channels, repetitions. */
    int scheduled();

    /** Returns the number of connections with a command in progress. */
    int connectionsInUse();

    /**
     * Returns the number of servers whose last command had no reply: no connection, a broken one,
     * or none in time. Of a cluster only the nodes that belong to it count.
     */
    int unreachableServers();

    /**
     * Returns how many events no listener was notified of since the client was created: the queue
     * was full, there was no memory, or the client was closed; see {@link LockListener}.
     */
    long droppedEvents();

    /** Returns whether no resource is in use. */
    default boolean isIdle() {
      return holds() + contended() + channels() + pendingReleases() == 0
          && scheduled() + connectionsInUse() == 0;
    }
  }
}
