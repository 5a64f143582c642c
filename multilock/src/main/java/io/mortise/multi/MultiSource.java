package io.mortise.multi;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.JointFailure;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LockNode;
import io.mortise.core.spi.OwnedLease;
import io.mortise.core.spi.Terms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The members of one lock, in their order, and what is asked of all of them. */
final class MultiSource implements LeaseSource {

  /**
   * By server, then by family, so that those stand together which go in one round trip, then by
   * name. Every process has the same order, if it reaches the servers under the same addresses.
   */
  private static final Comparator<LeaseSource> ORDER =
      Comparator.comparing(MultiSource::addresses)
          .thenComparing(LeaseSource::kind)
          .thenComparing(LeaseSource::name);

  private final List<LeaseSource> members;
  private final Identity identity;
  private final String name;
  private final LockOptions options;

  /** Locks of the same members are the same. */
  private record Identity(List<Object> members) {}

  private MultiSource(List<LeaseSource> members) {
    this.members = members;
    this.identity = new Identity(members.stream().map(LeaseSource::identity).toList());
    this.name = members.stream().map(LeaseSource::name).collect(Collectors.joining(", ", "[", "]"));
    this.options =
        members.stream()
            .map(LeaseSource::options)
            .min(Comparator.comparing(LockOptions::lease))
            .orElseThrow();
  }

  static MultiSource of(Collection<? extends DistributedLock> locks) {
    Map<Object, LeaseSource> members = new LinkedHashMap<>();
    for (DistributedLock lock : locks) {
      LeaseSource source = LeaseSource.of(lock);
      List<LeaseSource> leaves =
          source instanceof MultiSource nested ? nested.members : List.of(source);
      leaves.forEach(leaf -> members.putIfAbsent(leaf.identity(), leaf));
    }
    if (members.isEmpty()) {
      throw new IllegalArgumentException("a MultiLock needs at least one member");
    }
    List<LeaseSource> ordered = members.values().stream().sorted(ORDER).toList();
    for (int i = 1; i < ordered.size(); i++) {
      if (ORDER.compare(ordered.get(i - 1), ordered.get(i)) == 0) {
        throw twice(ordered.get(i - 1), ordered.get(i));
      }
    }
    return new MultiSource(ordered);
  }

  private static String addresses(LeaseSource source) {
    return source.nodes().stream().map(LockNode::address).sorted().collect(Collectors.joining(","));
  }

  private static IllegalArgumentException twice(LeaseSource one, LeaseSource other) {
    return new IllegalArgumentException(
        "members '%s' and '%s' are one lock in Redis, by two clients, and would wait for each other;"
                .formatted(one, other)
            + " give one of them");
  }

  List<LeaseSource> members() {
    return members;
  }

  @Override
  public Object identity() {
    return identity;
  }

  @Override
  public String kind() {
    return "multi-lock";
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public LockOptions options() {
    return options;
  }

  @Override
  public Set<LockNode> nodes() {
    Set<LockNode> nodes = new LinkedHashSet<>();
    members.forEach(member -> nodes.addAll(member.nodes()));
    return nodes;
  }

  @Override
  public Optional<OwnedLease> acquire(Terms terms, @Nullable Thread owner)
      throws InterruptedException {
    refuseOneServerUnderTwoAddresses();
    return new MultiAcquisition(this, terms, owner).run();
  }

  /** Two names that are equal, and servers that say they are one. Asks only if names are equal. */
  private void refuseOneServerUnderTwoAddresses() {
    for (int i = 0; i < members.size(); i++) {
      for (LeaseSource other : members.subList(i + 1, members.size())) {
        LeaseSource one = members.get(i);
        if (one.name().equals(other.name())
            && one.kind().equals(other.kind())
            && one.nodes().stream()
                .anyMatch(node -> other.nodes().stream().anyMatch(node::isSame))) {
          throw twice(one, other);
        }
      }
    }
  }

  @Override
  public Optional<String> obstacle() {
    return members.stream().flatMap(member -> member.obstacle().stream()).findFirst();
  }

  @Override
  public LeaseSource detached() {
    return new MultiSource(members.stream().map(LeaseSource::detached).toList());
  }

  // The client of any member will do, the first one that is open.

  @Override
  public Future<?> submit(Runnable task) {
    return members.get(0).submit(task);
  }

  @Override
  public Runnable schedule(Runnable task, long delayNanos) {
    return members.get(0).schedule(task, delayNanos);
  }

  // ---- questions

  @Override
  public Optional<Duration> remainingLease() {
    return members.stream()
        .flatMap(member -> member.remainingLease().stream())
        .max(Comparator.naturalOrder());
  }

  @Override
  public boolean forceUnlock() {
    boolean forced = false;
    List<LockException> failures = new ArrayList<>();
    for (LeaseSource member : members) {
      try {
        forced |= member.forceUnlock();
      } catch (LockException e) {
        failures.add(e);
      }
    }
    if (!failures.isEmpty()) {
      throw JointFailure.of(name, "not all members could be taken by force", failures);
    }
    return forced;
  }

  @Override
  public String toString() {
    return "multi-lock:" + members;
  }
}
