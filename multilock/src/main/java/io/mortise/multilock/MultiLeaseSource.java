package io.mortise.multilock;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockException;
import io.mortise.core.composite.AggregateFailure;
import io.mortise.core.composite.CompositeLeaseSource;
import io.mortise.core.spi.LeaseBackedLock;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockKey;
import io.mortise.core.spi.LockServer;
import io.mortise.core.spi.OwnedLease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The source of leases on all members, in their order, and the questions to all of them.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 */
final class MultiLeaseSource extends CompositeLeaseSource {

  /**
   * By server, then by family, so that members that one round trip acquires are adjacent, then by
   * name. Every process has the same order if it reaches the servers under the same addresses.
   */
  private static final Comparator<LeaseSource> ORDER =
      Comparator.comparing(MultiLeaseSource::addresses)
          .thenComparing(LeaseSource::kind)
          .thenComparing(LeaseSource::name);

  private final Identity identity;

  /** Locks with the same members are the same lock. */
  private record Identity(List<Object> members) {}

  private MultiLeaseSource(List<LeaseSource> members) {
    super(
        members,
        members.stream().map(LeaseSource::name).collect(Collectors.joining(", ", "[", "]")));
    this.identity = new Identity(members.stream().map(LeaseSource::identity).toList());
  }

  static MultiLeaseSource of(Collection<? extends DistributedLock> locks) {
    Map<Object, LeaseSource> members = new LinkedHashMap<>();
    for (DistributedLock lock : locks) {
      LeaseSource source = LeaseBackedLock.sourceOf(lock);
      List<LeaseSource> leaves =
          source instanceof MultiLeaseSource nested ? nested.members() : List.of(source);
      leaves.forEach(leaf -> members.putIfAbsent(leaf.identity(), leaf));
    }
    if (members.isEmpty()) {
      throw new IllegalArgumentException("a MultiLock needs at least one member");
    }
    List<LeaseSource> ordered = members.values().stream().sorted(ORDER).toList();
    refuse(ordered, LockKey::sharesAddress);
    return new MultiLeaseSource(ordered);
  }

  private static String addresses(LeaseSource source) {
    return source.nodes().stream()
        .map(LockServer::address)
        .sorted()
        .collect(Collectors.joining(","));
  }

  private static IllegalArgumentException twice(LeaseSource one, LeaseSource other) {
    return new IllegalArgumentException(
        "members '%s' and '%s' are one lock in Redis, and would wait for each other; give one of them"
            .formatted(one, other));
  }

  private static void refuse(List<LeaseSource> members, BiPredicate<LockKey, LockKey> isOne) {
    for (int i = 0; i < members.size(); i++) {
      LeaseSource one = members.get(i);
      for (LeaseSource other : members.subList(i + 1, members.size())) {
        if (one.places().stream()
            .anyMatch(place -> other.places().stream().anyMatch(p -> isOne.test(place, p)))) {
          throw twice(one, other);
        }
      }
    }
  }

  List<LeaseSource> members() {
    return sources();
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
  public Optional<OwnedLease> acquire(LeaseTerms terms, @Nullable Thread owner)
      throws InterruptedException {
    refuseOneServerUnderTwoAddresses();
    return new MultiAcquisition(this, members(), terms, owner, new HandleMode(owner)).run();
  }

  @Override
  public Optional<OwnedLease> acquireForThread(LeaseTerms terms) throws InterruptedException {
    refuseOneServerUnderTwoAddresses();
    return new MultiAcquisition(this, members(), terms, Thread.currentThread(), new ThreadMode())
        .run();
  }

  @Override
  public boolean dependsOnCaller() {
    return members().stream().anyMatch(LeaseSource::dependsOnCaller);
  }

  /**
   * Refuses equal names on servers that report the same id. Asks no server when all names differ.
   */
  private void refuseOneServerUnderTwoAddresses() {
    refuse(members(), LockKey::isSame);
  }

  @Override
  public Optional<String> selfDeadlock() {
    return members().stream().flatMap(member -> member.selfDeadlock().stream()).findFirst();
  }

  @Override
  public LeaseSource boundToCaller() {
    return new MultiLeaseSource(members().stream().map(LeaseSource::boundToCaller).toList());
  }

  // ---- questions

  @Override
  public Optional<Duration> remainingLease() {
    return members().stream()
        .flatMap(member -> member.remainingLease().stream())
        .max(Comparator.naturalOrder());
  }

  @Override
  public boolean forceUnlock() {
    boolean forced = false;
    List<LockException> failures = new ArrayList<>();
    for (LeaseSource member : members()) {
      try {
        forced |= member.forceUnlock();
      } catch (LockException e) {
        failures.add(e);
      }
    }
    if (!failures.isEmpty()) {
      throw AggregateFailure.of(name(), "not all members could be released by force", failures);
    }
    return forced;
  }

  @Override
  public String toString() {
    return "multi-lock:" + members();
  }
}
