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
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One member of a quorum: a lock on its own node.
 *
 * <p>A node that hangs would block one more thread with each acquisition that is decided without
 * it. Abandoned calls are therefore counted over all locks on the node. While there are several,
 * the node counts as unresponsive: it is asked only if the others have not decided within their
 * budget. The same holds for a node that was unreachable just now. While there are many, and the
 * node has replied to nothing for a budget, it is not asked at all, and counts as one that does not
 * reply: otherwise a silent majority would block one more thread with each round of each
 * acquisition. The number alone proves nothing: a round that is decided abandons its other calls at
 * once, so many rounds at a time abandon many calls to a node that is only a moment slower.
 *
 * <p><b>Threads.</b> Any thread may call it. All members on a node share its {@link NodeHealth},
 * whose parts are atomic or have their own lock.
 */
record QuorumMember(LeaseSource source, NodeHealth health) {
  private static final Logger LOG = LoggerFactory.getLogger(QuorumMember.class);

  /** The remedy for a silent node. */
  private static final String SILENCE =
      "look at the load of the node and at the network, or set a longer nodeWaitBudget";

  private static final int UNRESPONSIVE_CALLS = 4;
  private static final int SILENT_CALLS = 16;

  /** The part of its budget for which a node that seems silent is still asked. */
  private static final int BUDGET_PER_SUSPICION = 4;

  /** The least budget of a node, unless the lease is short or the user has set one. */
  static final long MIN_BUDGET_NANOS = 50_000_000;

  /** By client, because the client's threads are the ones that hang. */
  private static final Map<RedisDeployment, NodeHealth> HEALTH_BY_CLIENT =
      Collections.synchronizedMap(new WeakHashMap<>());

  /**
   * The health of a node, over all locks on it.
   *
   * @param abandonedCalls the number of abandoned calls: calls in progress whose reply no thread
   *     awaits
   * @param quietSinceNanos when it last replied, or had few abandoned calls and got one more,
   *     whichever is later; without meaning while it has few
   * @param suspicion the last time at which it was found to be silent; null if never
   * @param serverIds the ids that its servers report; empty until they have answered
   */
  record NodeHealth(
      AtomicInteger abandonedCalls,
      AtomicLong quietSinceNanos,
      AtomicReference<@Nullable Suspicion> suspicion,
      AtomicReference<Set<String>> serverIds,
      NodeOutage outage) {
    NodeHealth() {
      // Not the clock of the source: it refers to the client, which the map must not keep.
      this(
          new AtomicInteger(),
          new AtomicLong(),
          new AtomicReference<>(),
          new AtomicReference<>(Set.of()),
          new NodeOutage(System::nanoTime));
    }
  }

  /** That the node was silent from one moment, and was found so at another, by that budget. */
  private record Suspicion(long quietSinceNanos, long sinceNanos, long budgetNanos) {}

  static QuorumMember of(LeaseSource source) {
    Set<RedisDeployment> nodes = source.deployments();
    return new QuorumMember(
        source,
        nodes.size() == 1
            ? HEALTH_BY_CLIENT.computeIfAbsent(nodes.iterator().next(), node -> new NodeHealth())
            : new NodeHealth());
  }

  QuorumMember detached() {
    return new QuorumMember(source.boundToCaller(), health);
  }

  /** Returns the number of abandoned calls to its node. */
  AtomicInteger abandonedCalls() {
    return health.abandonedCalls();
  }

  /** Returns whether the node is asked only if the others have not decided in their budget. */
  boolean isUnresponsive() {
    return abandonedCalls().get() >= UNRESPONSIVE_CALLS || health.outage().suppressesCalls();
  }

  /**
   * Returns whether the node is not asked, because many calls wait for it, and none has had a reply
   * for the budget. The first caller that finds it so asks nevertheless, and so do others in the
   * next quarter of the budget: after a pause of this process the replies are about to be read.
   */
  boolean isSilent(long budgetNanos) {
    if (abandonedCalls().get() < SILENT_CALLS) {
      return false;
    }
    long now = source.nanoTime();
    long quietSince = health.quietSinceNanos().get();
    if (now - quietSince < budgetNanos) {
      return false;
    }
    Suspicion suspicion = health.suspicion().get();
    if (suspicion == null
        || suspicion.quietSinceNanos() != quietSince
        || suspicion.budgetNanos() < budgetNanos) {
      health.suspicion().set(new Suspicion(quietSince, now, budgetNanos));
      return false;
    }
    return now - suspicion.sinceNanos() >= budgetNanos / BUDGET_PER_SUSPICION;
  }

  /** Records that a call goes on, whose reply no thread awaits. Allocates nothing. */
  void onAbandoned() {
    if (abandonedCalls().get() < SILENT_CALLS) { // the time before the number: isSilent reads both
      onReply();
    }
    abandonedCalls().incrementAndGet();
  }

  /** Records that the node has replied to a call: from here on it has another budget. */
  void onReply() {
    health.quietSinceNanos().set(source.nanoTime());
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
    long begunNanos = health.outage().begin();
    Optional<OwnedLease> lease;
    try {
      lease = source.acquire(terms, owner);
    } catch (LockException e) {
      if (health.outage().recordFailure(e, begunNanos)) {
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
    onReply();
    if (health.outage().recordAnswer()) {
      LOG.info("{} can be used again", this);
    }
    if (knownServerIds().isEmpty()) {
      health
          .serverIds()
          .set(
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

  /** Returns the ids of its servers; empty if they have not answered yet, or report none. */
  Set<String> knownServerIds() {
    return Objects.requireNonNull(health.serverIds().get());
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
