package io.mortise.testkit;

import static io.mortise.testkit.DataNodes.reachable;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.HostAndPort;

/**
 * A master with replicas, watched by sentinels: real {@link RedisServer}s on 127.0.0.1, by default
 * one replica and three sentinels, without persistence. Each node and each sentinel can be killed,
 * suspended and started again by its own methods; this class knows which node is the master.
 *
 * <pre>{@code
 * try (RedisSentinels redis = RedisSentinels.start()) {
 *   RedisServer master = redis.master();
 *   redis.cutReplication();          // the failover loses all later writes
 *   ...
 *   master.kill();
 *   redis.awaitNewMaster(master);
 *   redis.restoreReplication();
 *   redis.rejoin(master);            // as a replica of the new one
 * }
 * }</pre>
 *
 * <p><b>Lost writes.</b> A replica that is only suspended misses nothing: before it is promoted it
 * reads the writes that wait in its socket. {@link #cutReplication} makes it miss them. Sentinels
 * promote no replica that has been without its master for ten times the time until a node counts as
 * down, which is 20 s by default.
 *
 * <p><b>Two masters.</b> The sentinels make an old master that lives a replica only ten to twenty
 * seconds after the failover; until then it takes writes, which are lost. {@link #rejoin} makes it
 * one at once; the sentinels see that up to ten seconds later. A master that is killed and
 * restarted before it was replaced comes back as an empty master.
 *
 * <p>A sentinel that was suspended for more than 2 s, or was not run by a busy machine, does
 * nothing for another 30 s.
 *
 * <p>Methods that wait do so for at most two minutes, and then throw an {@code
 * IllegalStateException} with the state that they saw.
 *
 * <p><b>Threads.</b> One thread starts and closes it; any thread may call the rest, changes of
 * roles one at a time.
 */
public final class RedisSentinels implements AutoCloseable {
  private static final String MASTER_NAME = "mortise";
  private static final Duration FAILOVER_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration ASK_AGAIN = FAILOVER_TIMEOUT.plusSeconds(5);

  private final DataNodes nodes;
  private final SentinelGroup sentinels;

  private RedisSentinels(Builder builder) {
    nodes = new DataNodes(builder.options);
    sentinels = new SentinelGroup(MASTER_NAME, nodes);
    try {
      RedisServer master = nodes.start(node -> node);
      String port = Integer.toString(master.port());
      for (int i = 0; i < builder.replicas; i++) {
        nodes.start(node -> node.config("replicaof", master.host(), port));
      }
      // Before the sentinels: they ask only after 10 s again for what they miss at first.
      DataNodes.awaitInSync(master, replicasOf(master));
      for (int i = 0; i < builder.sentinels; i++) {
        sentinels.add(builder.sentinel(master).start());
      }
      awaitOk();
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  /** Starts a master, a replica and three sentinels, which know each other when this returns. */
  public static RedisSentinels start() {
    return builder().start();
  }

  /** A builder that starts from the defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /** The name by which the sentinels know the master. */
  public String masterName() {
    return MASTER_NAME;
  }

  /** The sentinels, running or not. */
  public List<RedisServer> sentinels() {
    return sentinels.all();
  }

  /** The addresses of the sentinels, for Jedis. */
  public Set<HostAndPort> sentinelHostPorts() {
    return DataNodes.hostPorts(sentinels.all());
  }

  /** The master and the replicas, running or not; at the start the master comes first. */
  public List<RedisServer> nodes() {
    return nodes.all();
  }

  /** The URI of each of {@link #nodes}, with the credentials that a client is to use. */
  public List<String> uris() {
    return nodes.uris();
  }

  /** The master by the first sentinel that answers; it may be down. */
  public RedisServer master() {
    return sentinels.masterOf(sentinels.any());
  }

  /** All nodes but {@link #master()}. */
  public List<RedisServer> replicas() {
    return replicasOf(master());
  }

  /**
   * Makes the sentinels promote a replica (SENTINEL FAILOVER), whether the master lives or not.
   *
   * @return the new master, as {@link #awaitNewMaster}
   */
  public RedisServer failover() {
    RedisServer former = master();
    AtomicLong askedNanos = new AtomicLong(System.nanoTime() - ASK_AGAIN.toNanos());
    Await.until(
        "a failover from " + former,
        () -> {
          boolean ask = System.nanoTime() - askedNanos.get() >= ASK_AGAIN.toNanos();
          if (ask && !sentinels.isBeingReplaced(former)) {
            // An error, such as that no replica is good, is thrown here, and the request repeated.
            sentinels.any().command("SENTINEL", "FAILOVER", MASTER_NAME);
            askedNanos.set(System.nanoTime());
          }
          return sentinels.isReplaced(former);
        },
        sentinels::toString);
    return master();
  }

  /**
   * Waits until all sentinels that answer name another master than the former one, and its role is
   * that of a master.
   *
   * @return that master
   */
  public RedisServer awaitNewMaster(RedisServer former) {
    nodes.requireOurs("former", former);
    Await.until(
        "another master than " + former, () -> sentinels.isReplaced(former), sentinels::toString);
    return master();
  }

  /**
   * Makes a former master, or any node that is down or suspended, a replica of the current master,
   * for which it waits. Returns when it is in sync.
   */
  public void rejoin(RedisServer node) {
    nodes.requireOurs("node", node);
    RedisServer master = awaitNewMaster(node);
    if (!node.isRunning()) {
      node.restart();
    } else if (!node.canAnswer()) {
      node.resume();
    }
    nodes.restoreLinks(node);
    node.command("REPLICAOF", master.host(), Integer.toString(master.port()));
    DataNodes.awaitInSync(master, List.of(node));
  }

  /**
   * Makes the replicas that answer miss all later writes of the master, while they and the master
   * go on; all earlier writes have reached them. See {@link #restoreReplication}.
   */
  public void cutReplication() {
    RedisServer master = master();
    nodes.cut(master, reachable(replicasOf(master)));
  }

  /** Lets all replicas that answer follow the master again; {@link #awaitInSync} waits for it. */
  public void restoreReplication() {
    nodes.restoreLinks();
  }

  /** Waits until all replicas that answer have all earlier writes of the master. */
  public void awaitInSync() {
    RedisServer master = master();
    DataNodes.awaitInSync(master, reachable(replicasOf(master)));
  }

  /**
   * Waits until all sentinels that answer name the same master, which answers, and see all other
   * nodes that answer as its replicas in order, and each other.
   */
  public void awaitOk() {
    Await.until("sentinels that agree", sentinels::isOk, sentinels::toString);
  }

  /** Ends all nodes and sentinels, also suspended ones, and deletes their directories. */
  @Override
  public void close() {
    try {
      sentinels.close();
    } finally {
      nodes.close();
    }
  }

  @Override
  public String toString() {
    return "%s, watched by %s".formatted(nodes.all(), sentinels.all());
  }

  private List<RedisServer> replicasOf(RedisServer master) {
    return nodes.all().stream().filter(node -> node != master).toList();
  }

  /** The options of the nodes and the sentinels. */
  public static final class Builder extends NodeBuilder<Builder> {
    private int replicas = 1;
    private int sentinels = 3;
    private String downAfterMillis = "2000";
    private @Nullable String sentinelPassword;
    private UnaryOperator<RedisServer.Builder> tls = UnaryOperator.identity();

    private Builder() {}

    @Override
    Builder self() {
      return this;
    }

    /** How many replicas the master has: from 0 to 10. */
    public Builder replicas(int count) {
      replicas = Preconditions.inRange("replicas", count, 0, 10);
      return this;
    }

    /** How many sentinels there are: from 1 to 20; more than half of them replace a master. */
    public Builder sentinels(int count) {
      sentinels = Preconditions.inRange("sentinels", count, 1, 20);
      return this;
    }

    /** How long a node is silent until it counts as down; 2 s by default. */
    public Builder downAfter(Duration downAfter) {
      downAfterMillis = Preconditions.millis("downAfter", downAfter);
      return this;
    }

    /** Needed by all clients of the sentinels, and by the sentinels among themselves. */
    public Builder sentinelPassword(String password) {
      sentinelPassword = Preconditions.notEmpty("sentinel password", password);
      return this;
    }

    /**
     * Makes nodes and sentinels speak TLS; {@link #uris} and {@link #sentinelHostPorts} then name
     * the ports of TLS. For one sentinel and no replicas.
     *
     * @param certificate PEM, for 127.0.0.1
     * @param key PEM
     */
    public Builder tls(Path certificate, Path key) {
      options.tls(certificate, key);
      tls = sentinel -> sentinel.tls(certificate, key).config("tls-replication", "yes");
      return replicas(0).sentinels(1);
    }

    /** Starts all of them; until the sentinels know each other it takes Redis about 3 s. */
    public RedisSentinels start() {
      return new RedisSentinels(this);
    }

    private RedisServer.Builder sentinel(RedisServer master) {
      RedisServer.Builder builder = tls.apply(RedisServer.builder().sentinel());
      String port = Integer.toString(master.clientPort());
      String quorum = Integer.toString(sentinels / 2 + 1);
      String timeout = Long.toString(FAILOVER_TIMEOUT.toMillis());
      builder.config("sentinel", "monitor", MASTER_NAME, master.host(), port, quorum);
      builder.config("sentinel", "down-after-milliseconds", MASTER_NAME, downAfterMillis);
      builder.config("sentinel", "failover-timeout", MASTER_NAME, timeout);
      if (options.password() != null) {
        builder.config("sentinel", "auth-pass", MASTER_NAME, options.password());
      }
      if (sentinelPassword != null) {
        builder.config("requirepass", sentinelPassword);
      }
      Path binary = options.binary();
      return binary == null ? builder : builder.binary(binary);
    }
  }
}
