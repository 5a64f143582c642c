package io.mortise.redlock;

import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockServer;
import io.mortise.core.spi.OwnedLease;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One member of a quorum: a lock on a node of its own.
 *
 * <p>A node that hangs would hold one more thread with each acquisition that is decided without it.
 * So the questions that nobody waits for any more are counted, over all locks on that node; while
 * there are several, the node is silent, and is asked only when the others have not decided in
 * their time. The same goes for one that could not be reached just now.
 *
 * @param source where its leases come from
 * @param contact what is known of its node
 */
record QuorumMember(LeaseSource source, Contact contact) {
  private static final Logger LOG = LoggerFactory.getLogger(QuorumMember.class);
  private static final int MOST_UNAWAITED = 4;

  /** By client: it is the client's threads that hang. */
  private static final Map<LockServer, Contact> CONTACTS =
      Collections.synchronizedMap(new WeakHashMap<>());

  /**
   * What is known of a node, over all locks on it.
   *
   * @param unawaited how many questions to it nobody waits for any more
   * @param serverIds what its servers call themselves; empty until they have told
   * @param outage whether it could not be reached lately
   */
  record Contact(
      AtomicInteger unawaited, AtomicReference<Set<String>> serverIds, NodeOutage outage) {
    Contact() {
      this(new AtomicInteger(), new AtomicReference<>(Set.of()), new NodeOutage(System::nanoTime));
    }
  }

  static QuorumMember of(LeaseSource source) {
    Set<LockServer> nodes = source.nodes();
    return new QuorumMember(
        source,
        nodes.size() == 1
            ? CONTACTS.computeIfAbsent(nodes.iterator().next(), node -> new Contact())
            : new Contact());
  }

  QuorumMember detached() {
    return new QuorumMember(source.boundToCaller(), contact);
  }

  /** How many questions to its node nobody waits for any more. */
  AtomicInteger unawaited() {
    return contact.unawaited();
  }

  /** Whether it is asked only when the others have not decided in their time. */
  boolean isDoubtful() {
    return unawaited().get() >= MOST_UNAWAITED || contact.outage().keepsOut();
  }

  /** Where it is, for messages. */
  String address() {
    return source.nodes().stream()
        .map(LockServer::address)
        .sorted()
        .collect(Collectors.joining("+"));
  }

  /** Whether the two may fail together: by their addresses, without asking. */
  boolean sharesAddress(QuorumMember other) {
    return source.nodes().stream()
        .anyMatch(
            node ->
                other.source.nodes().stream()
                    .anyMatch(theirs -> node.address().equals(theirs.address())));
  }

  /** Asks for a lease; and, when it has answered for the first time, which server it is. */
  Optional<OwnedLease> acquire(LeaseTerms terms, @Nullable Thread owner)
      throws InterruptedException {
    long begunNanos = contact.outage().begin();
    Optional<OwnedLease> lease;
    try {
      lease = source.acquire(terms, owner);
    } catch (LockException e) {
      if (contact.outage().note(e, begunNanos)) {
        LOG.warn("{} cannot be used, and locks go on without it: {}", this, e.getMessage());
      }
      throw e;
    }
    if (contact.outage().isOver()) {
      LOG.info("{} can be used again", this);
    }
    if (knownServerIds().isEmpty()) {
      contact
          .serverIds()
          .set(
              source.nodes().stream()
                  .map(LockServer::serverId)
                  .flatMap(Optional::stream)
                  .collect(Collectors.toUnmodifiableSet()));
    }
    return lease;
  }

  /** What its servers call themselves; empty when they have not answered yet, or do not tell. */
  Set<String> knownServerIds() {
    return Objects.requireNonNull(contact.serverIds().get());
  }

  /** What to say when it has not answered. */
  LockException silent(String what, @Nullable Throwable cause) {
    return new LockException(Reason.UNREACHABLE, this + ": " + what, cause);
  }

  /** The same, when it had so much time for it. */
  LockException silent(long budgetNanos) {
    return silent(
        "did not answer within its budget of %d ms"
            .formatted(TimeUnit.NANOSECONDS.toMillis(budgetNanos)),
        null);
  }

  @Override
  public String toString() {
    return "'" + source.name() + "' at " + address();
  }
}
