package io.mortise.red;

import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.spi.InFlight;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LockNode;
import io.mortise.core.spi.OwnedLease;
import io.mortise.core.spi.Terms;
import io.mortise.red.Flights.Promptness;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One member of a quorum: a lock on a node of its own.
 *
 * <p>A node that hangs would hold one more thread with each acquisition that is decided without it.
 * So the questions that nobody waits for any more are counted, over all locks on that node; while
 * there are several, the node is silent, and is asked only when the others have not decided in
 * their time. One that could not be reached just now is out, and is asked when the others do not
 * decide at once.
 *
 * @param source where its leases come from
 * @param contact what is known of its node
 */
record Member(LeaseSource source, Contact contact) {
  private static final int MOST_UNAWAITED = 4;

  /** By client: it is the client's threads that hang. */
  private static final Map<LockNode, Contact> CONTACTS =
      Collections.synchronizedMap(new WeakHashMap<>());

  /**
   * What is known of a node, over all locks on it.
   *
   * @param unawaited how many questions to it nobody waits for any more
   * @param serverIds what its servers call themselves; empty until they have told
   * @param outage whether it could not be reached lately
   * @param promptness how fast it answers
   */
  record Contact(
      AtomicInteger unawaited,
      AtomicReference<Set<String>> serverIds,
      Outage outage,
      Promptness promptness) {
    Contact() {
      this(
          new AtomicInteger(),
          new AtomicReference<>(Set.of()),
          new Outage(System::nanoTime),
          new Promptness());
    }
  }

  /** That a node could not be reached. Safe for any thread. */
  static final class Outage {
    static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final LongSupplier clock;
    private volatile boolean seen;
    private final AtomicLong seenNanos = new AtomicLong();
    private volatile long answeredNanos;

    Outage(LongSupplier clock) {
      this.clock = clock;
      this.answeredNanos = clock.getAsLong();
    }

    /** When a question begins. */
    long begin() {
      return clock.getAsLong();
    }

    /** Notes what went wrong, and gives it back; nothing if the node has answered others since. */
    LockException note(LockException failure, long begunNanos) {
      if (failure.reason() == Reason.UNREACHABLE && begunNanos - answeredNanos >= 0) {
        seenNanos.set(clock.getAsLong());
        seen = true;
      }
      return failure;
    }

    /** It has answered. */
    void isOver() {
      answeredNanos = clock.getAsLong();
      if (seen) {
        seen = false;
      }
    }

    /**
     * Whether it was so lately that another attempt would hardly tell anything new. When that time
     * is over, one who asks this is let through, and the others wait for what becomes of it.
     */
    boolean keepsOut() {
      if (!seen) {
        return false;
      }
      long last = seenNanos.get();
      long now = clock.getAsLong();
      return now - last < PAUSE_NANOS || !seenNanos.compareAndSet(last, now);
    }
  }

  /** An acquisition that was sent ahead; how it ends is noted. */
  private record Asked(InFlight<Optional<OwnedLease>> sent, Outage outage, long begunNanos)
      implements InFlight<Optional<OwnedLease>> {
    @Override
    public boolean isSent() {
      return sent.isSent();
    }

    @Override
    public boolean hasArrived() {
      return sent.hasArrived();
    }

    @Override
    public Optional<OwnedLease> await() {
      try {
        Optional<OwnedLease> lease = sent.await();
        outage.isOver();
        return lease;
      } catch (LockException e) {
        throw outage.note(e, begunNanos);
      }
    }
  }

  static Member of(LeaseSource source) {
    Set<LockNode> nodes = source.nodes();
    return new Member(
        source,
        nodes.size() == 1
            ? CONTACTS.computeIfAbsent(nodes.iterator().next(), node -> new Contact())
            : new Contact());
  }

  Member detached() {
    return new Member(source.detached(), contact);
  }

  /** How many questions to its node nobody waits for any more. */
  AtomicInteger unawaited() {
    return contact.unawaited();
  }

  /** Whether it is asked only when the others have not decided in their time. */
  boolean isSilent() {
    return unawaited().get() >= MOST_UNAWAITED;
  }

  /** Whether it is asked only when the others do not decide at once. */
  boolean isOut() {
    return contact.outage().keepsOut();
  }

  Promptness promptness() {
    return contact.promptness();
  }

  /** Where it is, for messages. */
  String address() {
    return source.nodes().stream().map(LockNode::address).sorted().collect(Collectors.joining("+"));
  }

  /** Whether the two may fail together: by their addresses, without asking. */
  boolean sharesAddress(Member other) {
    return source.nodes().stream()
        .anyMatch(
            node ->
                other.source.nodes().stream()
                    .anyMatch(theirs -> node.address().equals(theirs.address())));
  }

  /** Asks for a lease; and, when it has answered for the first time, which server it is. */
  Optional<OwnedLease> acquire(Terms terms, @Nullable Thread owner) throws InterruptedException {
    long begunNanos = contact.outage().begin();
    Optional<OwnedLease> lease;
    try {
      lease = source.acquire(terms, owner);
    } catch (LockException e) {
      throw contact.outage().note(e, begunNanos);
    }
    contact.outage().isOver();
    if (knownServerIds().isEmpty()) {
      contact
          .serverIds()
          .set(
              source.nodes().stream()
                  .map(LockNode::serverId)
                  .flatMap(Optional::stream)
                  .collect(Collectors.toUnmodifiableSet()));
    }
    return lease;
  }

  /**
   * The same, sent ahead.
   *
   * @return empty if it may have to wait, or there is more than that to ask
   */
  Optional<InFlight<Optional<OwnedLease>>> acquireAhead(Terms terms, @Nullable Thread owner) {
    return terms.waitNanos() == 0 && !knownServerIds().isEmpty()
        ? InFlight.acquire(source, terms, owner)
            .map(sent -> new Asked(sent, contact.outage(), contact.outage().begin()))
        : Optional.empty();
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
