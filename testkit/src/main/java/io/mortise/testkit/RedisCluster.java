package io.mortise.testkit;

import static io.mortise.testkit.DataNodes.reachable;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.UnaryOperator;
import redis.clients.jedis.HostAndPort;

/**
 * A real Redis Cluster of {@link RedisServer}s on 127.0.0.1: by default three masters with a
 * replica each, without persistence. Its nodes can be killed, suspended and started again, each by
 * its own methods; this class knows which node replicates which, promotes replicas, and moves
 * slots.
 *
 * <pre>{@code
 * try (RedisCluster cluster = RedisCluster.start()) {
 *   RedisServer master = cluster.masterOf("order:42");
 *   master.kill();
 *   cluster.awaitNewMaster("order:42", master);   // or at once: cluster.failover("order:42")
 *   master.restart();                             // is a replica now
 *   cluster.awaitOk();
 * }
 * }</pre>
 *
 * <p><b>Lost writes.</b> After {@link #cutReplication} the replicas miss all writes to the master;
 * a {@link #failover} then loses them, as a failover of asynchronous replication may. A replica
 * that is only suspended misses nothing: it first reads the writes that wait in its socket. A
 * master that is killed and restarted before a replica was promoted comes back as an empty master.
 *
 * <p><b>Failover by itself.</b> A master that is silent for the node time-out is replaced by one of
 * its replicas, about two seconds later, if most masters live. {@code
 * config("cluster-replica-no-failover", "yes")} leaves that to {@link #failover} alone. Replicas
 * stay with their master, and are promoted however old their data is.
 *
 * <p>Methods that wait do so for at most two minutes, and then throw an {@code
 * IllegalStateException} with the state that they saw.
 *
 * <p><b>Threads.</b> One thread starts and closes it; any thread may call the rest, changes of the
 * cluster one at a time.
 */
public final class RedisCluster implements AutoCloseable {
  private final NodeOptions options;
  private final DataNodes nodes;
  private final ClusterState state;

  private RedisCluster(Builder builder) {
    options = builder.options;
    nodes = new DataNodes(options);
    state = new ClusterState(nodes);
    try {
      for (int i = 0; i < builder.masters * (1 + builder.replicas); i++) {
        nodes.start(UnaryOperator.identity());
      }
      ClusterFormation.form(nodes.all(), builder.masters);
      awaitOk();
      awaitInSync();
    } catch (RuntimeException | Error e) {
      nodes.close();
      throw e;
    }
  }

  /** Starts three masters with a replica each; the cluster is ready when this returns. */
  public static RedisCluster start() {
    return builder().start();
  }

  /** A builder that starts from the defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /** All nodes, running or not; at the start the masters come first. */
  public List<RedisServer> nodes() {
    return nodes.all();
  }

  /** The URI of each node, with the credentials that a client is to use. */
  public List<String> uris() {
    return nodes.uris();
  }

  /** The addresses of the nodes, for Jedis. */
  public Set<HostAndPort> hostPorts() {
    return nodes.hostPorts();
  }

  /** The masters that have slots, running or not. */
  public List<RedisServer> masters() {
    return state.masters();
  }

  /** The node that has the slot of this key, running or not. */
  public RedisServer masterOf(String key) {
    return state.masterOf(key);
  }

  /** The replicas of that node, running or not. */
  public List<RedisServer> replicasOf(String key) {
    return state.replicasOf(key);
  }

  /**
   * Promotes the first replica of {@link #replicasOf} that answers: see {@link #promote}.
   *
   * @return the new master
   */
  public RedisServer failover(String key) {
    RedisServer replica =
        reachable(replicasOf(key)).stream()
            .findFirst()
            .orElseThrow(
                () -> new IllegalStateException("no replica for '" + key + "' that answers"));
    promote(replica);
    return replica;
  }

  /**
   * Makes a replica the master: in order (CLUSTER FAILOVER), so that nothing is lost, if its master
   * answers and replicates to it, and most masters answer; otherwise by force (TAKEOVER), with the
   * data that it has. The effect of {@link #cutReplication} on it is undone afterwards. Returns
   * when all nodes that answer know it; an old master that answers is a replica then.
   */
  public void promote(RedisServer replica) {
    nodes.requireOurs("replica", replica);
    if (!replica.canAnswer()) {
      throw new IllegalStateException(replica + " does not answer, so it cannot be promoted");
    }
    new ReplicaPromotion(replica, state).complete();
    nodes.restoreLinks(replica);
  }

  /**
   * Moves the slot of this key, with all its keys, to another master, while clients go on. Returns
   * when all nodes that answer know it.
   */
  public void moveSlot(String key, RedisServer to) {
    moveSlot(key, to, () -> {});
  }

  /**
   * The same, with an action in the middle: all keys have been moved then, but the slot has not, so
   * that the old owner redirects (ASK) each command to the new one.
   *
   * @param to a master, which may be without slots until now
   */
  public void moveSlot(String key, RedisServer to, Runnable halfway) {
    nodes.requireOurs("to", to);
    Objects.requireNonNull(halfway, "halfway");
    RedisServer from = masterOf(key);
    if (from == to) {
      throw new IllegalArgumentException("'%s' is on %s already".formatted(key, to));
    }
    if (!to.field("replication", "role").equals("master")) {
      throw new IllegalArgumentException(to + " is not a master");
    }
    SlotMigration move = new SlotMigration(ClusterState.slot(key), from, to, options.password());
    move.begin();
    move.moveKeys();
    halfway.run();
    move.moveKeys();
    move.assign(reachable(masters()));
    Await.until(
        "'%s' on %s for all nodes".formatted(key, to),
        () -> state.masterOf(key) == to && state.isAgreed(),
        state::toString);
  }

  /**
   * Makes the replicas of this key's master miss all later writes, while they and their master go
   * on; all earlier writes have reached them. See {@link #restoreReplication}.
   */
  public void cutReplication(String key) {
    nodes.cut(masterOf(key), reachable(replicasOf(key)));
  }

  /**
   * Lets all replicas that answer follow their masters again; {@link #awaitInSync} waits for it.
   */
  public void restoreReplication() {
    nodes.restoreLinks();
  }

  /**
   * Waits until the cluster works: each slot belongs to a node that answers, and all nodes that
   * answer have the same view of masters, replicas and slots, and find it in order.
   */
  public void awaitOk() {
    Await.until("a cluster in order", state::isOk, state::toString);
  }

  /** Waits until all replicas that answer have all earlier writes of their masters. */
  public void awaitInSync() {
    for (RedisServer master : reachable(state.masters())) {
      DataNodes.awaitInSync(master, reachable(state.replicasOf(master)));
    }
  }

  /**
   * Waits until a node other than the former one has the slot of this key and answers, for all
   * nodes that answer.
   *
   * @return that node
   */
  public RedisServer awaitNewMaster(String key, RedisServer former) {
    Objects.requireNonNull(key, "key");
    nodes.requireOurs("former", former);
    Await.until(
        "another master for '%s' than %s".formatted(key, former),
        () -> {
          RedisServer now = masterOf(key);
          return now != former && now.canAnswer() && state.isAgreed();
        },
        state::toString);
    return masterOf(key);
  }

  /** Ends all nodes, also suspended ones, and deletes their directories. */
  @Override
  public void close() {
    nodes.close();
  }

  @Override
  public String toString() {
    return "cluster of " + nodes.all();
  }

  /** The options of a cluster. */
  public static final class Builder extends NodeBuilder<Builder> {
    private int masters = 3;
    private int replicas = 1;

    private Builder() {
      config("cluster-enabled", "yes");
      config("cluster-announce-ip", "127.0.0.1");
      config("cluster-replica-validity-factor", "0"); // promoted however old the data is
      config("cluster-migration-barrier", "1000"); // no replica changes its master by itself
      nodeTimeout(Duration.ofSeconds(2));
    }

    @Override
    Builder self() {
      return this;
    }

    /** How many masters share the slots: from 1 to 100; with fewer than 3 none is replaced. */
    public Builder masters(int count) {
      masters = Preconditions.inRange("masters", count, 1, 100);
      return this;
    }

    /** How many replicas each master has: from 0 to 10. */
    public Builder replicas(int each) {
      replicas = Preconditions.inRange("replicas", each, 0, 10);
      return this;
    }

    /** How long a node is silent until it counts as failed; 2 s by default. */
    public Builder nodeTimeout(Duration nodeTimeout) {
      return config("cluster-node-timeout", Preconditions.millis("nodeTimeout", nodeTimeout));
    }

    /**
     * Makes the nodes speak TLS, among themselves too; {@link #uris} and {@link #hostPorts} then
     * name the ports of TLS. Slots cannot be moved then.
     *
     * @param certificate PEM, for 127.0.0.1
     * @param key PEM
     */
    public Builder tls(Path certificate, Path key) {
      options.tls(certificate, key);
      return config("tls-cluster", "yes");
    }

    /** Starts the nodes and makes them a cluster: that takes Redis about 3 s. */
    public RedisCluster start() {
      return new RedisCluster(this);
    }
  }
}
