package io.mortise.red;

import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LockNode;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/**
 * One member of a quorum: a lock on a node of its own.
 *
 * <p>A node that hangs would hold one more thread with each acquisition that is decided without it.
 * So the questions that nobody waits for any more are counted, over all locks on that node; while
 * there are several, the node is silent, and is asked only when the others do not decide.
 *
 * @param source where its leases come from
 * @param unawaited how many questions to its node nobody waits for any more
 */
record Member(LeaseSource source, AtomicInteger unawaited) {
  private static final int MOST_UNAWAITED = 4;

  /** By client: it is the client's threads that hang. */
  private static final Map<LockNode, AtomicInteger> UNAWAITED =
      Collections.synchronizedMap(new WeakHashMap<>());

  static Member of(LeaseSource source) {
    Set<LockNode> nodes = source.nodes();
    return new Member(
        source,
        nodes.size() == 1
            ? UNAWAITED.computeIfAbsent(nodes.iterator().next(), node -> new AtomicInteger())
            : new AtomicInteger());
  }

  Member detached() {
    return new Member(source.detached(), unawaited);
  }

  boolean isSilent() {
    return unawaited.get() >= MOST_UNAWAITED;
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

  /**
   * What its servers call themselves, as far as they tell. To be asked after they have answered.
   */
  Set<String> serverIds() {
    return source.nodes().stream()
        .map(LockNode::serverId)
        .flatMap(Optional::stream)
        .collect(Collectors.toUnmodifiableSet());
  }

  @Override
  public String toString() {
    return "'" + source.name() + "' at " + address();
  }
}
