package io.mortise.connection.topology;

import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.Exchange;
import io.mortise.connection.pool.Reply;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One server, or the one that sentinels call the master.
 *
 * <p><b>Threads.</b> As for every {@link Topology}; there is no state of its own.
 */
final class SingleNodeTopology implements Topology {
  private static final Logger LOG = LoggerFactory.getLogger(SingleNodeTopology.class);

  private final RedisNode node;
  private final WorkerPool workers;

  /**
   * @param workers write to the log what the scheduler's thread finds: a log may block
   */
  SingleNodeTopology(RedisNode node, WorkerPool workers) {
    this.node = node;
    this.workers = workers;
  }

  @Override
  public int slotOf(byte[] key) {
    return 0;
  }

  @Override
  public Object serverOf(int slot) {
    return node;
  }

  @Override
  public Reply exchange(int slot, Exchange exchange, Deadline deadline) throws CommandException {
    return node.exchange(exchange, deadline);
  }

  @Override
  public Reply exchangeAtMostOnce(int slot, Exchange exchange, Deadline deadline)
      throws CommandException {
    return node.exchangeAtMostOnce(exchange, deadline);
  }

  @Override
  public boolean isRedirect(Object answer) {
    return false;
  }

  @Override
  public Topology.SubscriptionEndpoint endpointFor(String channel) {
    return node;
  }

  @Override
  public boolean isSharded() {
    return false;
  }

  @Override
  public void refresh() {}

  @Override
  public void checkForFailover(boolean inUse) {
    node.checkForFailover(inUse);
  }

  @Override
  public boolean canFailOver() {
    return node.canFailOver();
  }

  @Override
  public void onConnectionLost(Runnable action) {
    node.onConnectionLost(action);
  }

  @Override
  public void onChange(Runnable action) {
    node.onChange(
        (former, now) -> {
          action.run(); // first: it is repeated after an error
          workers.tryRun(
              () -> LOG.info("{}: failover from {} to {}, holds are verified", node, former, now));
        });
    node.onRefusedWrite(action); // the address leads to another master now, as a balancer's does
  }

  @Override
  public void onReachabilityChange(Topology.ReachabilityObserver observer) {
    node.onReachabilityChange(observer);
  }

  @Override
  public Optional<String> clusterId(long withinNanos) {
    return Optional.empty();
  }

  @Override
  public List<Topology.Server> servers() {
    return List.of(node);
  }

  @Override
  public boolean knowsAllServers() {
    return true;
  }

  @Override
  public boolean hasSlot(Topology.Server server, int slot) {
    return server == node;
  }

  @Override
  public int unreachableServers() {
    return node.isUnreachable() ? 1 : 0;
  }

  @Override
  public int connectionsInUse() {
    return node.connectionsInUse();
  }

  @Override
  public void close() {
    node.close();
  }

  @Override
  public String toString() {
    return node.toString();
  }
}
