package io.mortise.redlock;

import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import io.mortise.core.spi.RedisDeployment;
import java.math.BigDecimal;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One member of a quorum: a lock on its own node.
 *
 * <p><b>Threads.</b> Any thread may call it. All members on a node share its {@link NodeHealth}.
 */
record QuorumMember(LeaseSource source, NodeHealth health) {
  private static final Logger LOG = LoggerFactory.getLogger(QuorumMember.class);

  /** The remedy for a silent node. */
  private static final String SILENCE =
      "look at the load of the node and at the network, or set a longer nodeWaitBudget";

  /** The least budget of a node, unless the lease is short or the user has set one. */
  static final long MIN_BUDGET_NANOS = 50_000_000;

  /** By client, because the client's threads are the ones that hang. */
  private static final Map<RedisDeployment, NodeHealth> HEALTH_BY_CLIENT =
      Collections.synchronizedMap(new WeakHashMap<>());

  static QuorumMember of(LeaseSource source) {
    Set<RedisDeployment> nodes = source.deployments();
    NodeHealth unknown = new NodeHealth(source.nanoTime());
    return new QuorumMember(
        source,
        nodes.size() == 1
            ? HEALTH_BY_CLIENT.computeIfAbsent(nodes.iterator().next(), node -> unknown)
            : unknown);
  }

  QuorumMember detached() {
    return new QuorumMember(source.boundToCaller(), health);
  }

  /** See {@link NodeHealth#isUnresponsive}. */
  boolean isUnresponsive() {
    return health.isUnresponsive(source.nanoTime());
  }

  /** See {@link NodeHealth#isSilent}. */
  boolean isSilent(long budgetNanos) {
    return health.isSilent(budgetNanos, source.nanoTime());
  }

  /** See {@link NodeHealth#onAbandoned}. */
  void onAbandoned() {
    health.onAbandoned(source.nanoTime());
  }

  /** See {@link NodeHealth#onReply}. */
  void onReply() {
    health.onReply(source.nanoTime());
  }

  /** Returns the exception for a node that {@linkplain #isSilent is not asked}. */
  LockException notAsked() {
    return silent("was not asked, because it has not answered earlier commands yet");
  }

  /** Returns the addresses of its servers, for messages. */
  String address() {
    return source.deployments().stream()
        .map(RedisDeployment::address)
        .sorted()
        .collect(Collectors.joining("+"));
  }

  /** Returns whether the two may fail together, judged by their addresses. Sends nothing. */
  boolean sharesAddress(QuorumMember other) {
    return source.deployments().stream()
        .anyMatch(
            node ->
                other.source.deployments().stream()
                    .anyMatch(theirs -> node.address().equals(theirs.address())));
  }

  /** Acquires a lease; after the first answer also asks for the ids of its servers. */
  Optional<OwnedLease> acquire(LeaseTerms terms, @Nullable Thread owner)
      throws InterruptedException {
    long begunNanos = source.nanoTime();
    Optional<OwnedLease> lease;
    try {
      lease = source.acquire(terms, owner);
    } catch (LockException e) {
      if (health.recordFailure(e, begunNanos, source.nanoTime())) {
        LOG.warn("{} cannot be used, and locks go on without it: {}", this, e.getMessage());
      }
      throw e;
    }
    try {
      onAnswer();
    } catch (RuntimeException | Error e) {
      lease.ifPresent(QuorumMember::releaseQuietly); // no caller gets it
      throw e;
    }
    return lease;
  }

  private void onAnswer() {
    if (health.recordAnswer(source.nanoTime())) {
      LOG.info("{} can be used again", this);
    }
    if (health.serverIds().isEmpty()) {
      health.setServerIds(
          source.deployments().stream()
              .map(RedisDeployment::serverId)
              .flatMap(Optional::stream)
              .collect(Collectors.toUnmodifiableSet()));
    }
  }

  /** Releases a lease that is not needed; a failure is only logged. */
  static void releaseQuietly(OwnedLease lease) {
    try {
      lease.release();
    } catch (IllegalMonitorStateException | LockException e) {
      LOG.debug("released: {}", lease, e);
    }
  }

  /** Returns the exception for a missing reply. */
  LockException noReply(String what, @Nullable Throwable cause) {
    return new LockException(Reason.UNREACHABLE, this + ": " + what, cause);
  }

  /** Returns the exception for a reply that did not arrive within the budget. */
  LockException noReply(long budgetNanos) {
    BigDecimal millis = BigDecimal.valueOf(budgetNanos, 6).stripTrailingZeros();
    String fact = "did not answer within its budget of %s ms".formatted(millis.toPlainString());
    return budgetNanos < MIN_BUDGET_NANOS
        ? noReply(
            fact
                + ", which is short; a longer nodeWaitBudget, or by default a longer lease, gives it"
                + " more time",
            null)
        : silent(fact);
  }

  /** Returns the exception for a node that is silent, with the remedy. */
  LockException silent(String what) {
    return new LockException(Reason.UNREACHABLE, this + ": " + what, SILENCE, null);
  }

  @Override
  public String toString() {
    return "'" + source.name() + "' at " + address();
  }
}
