package io.mortise.multilock;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockException;
import io.mortise.core.composite.AggregateFailure;
import io.mortise.core.composite.CompositeLeaseSource;
import io.mortise.core.spi.CallerWait;
import io.mortise.core.spi.LeaseBackedLock;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import io.mortise.core.spi.RedisDeployment;
import io.mortise.core.spi.ThreadOwnership;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
    for (LeaseSource source : LeaseBackedLock.sourcesOf(locks)) {
      List<LeaseSource> leaves =
          source instanceof MultiLeaseSource nested ? nested.members() : List.of(source);
      leaves.forEach(leaf -> members.putIfAbsent(leaf.identity(), leaf));
    }
    if (members.isEmpty()) {
      throw new IllegalArgumentException("a MultiLock needs at least one member");
    }
    List<LeaseSource> ordered = members.values().stream().sorted(ORDER).toList();
    SameServerCheck.checkAddresses(ordered);
    return new MultiLeaseSource(ordered);
  }

  private static String addresses(LeaseSource source) {
    return source.deployments().stream()
        .map(RedisDeployment::address)
        .sorted()
        .collect(Collectors.joining(","));
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
    return acquisition(terms, owner, new HandleMode(owner)).run();
  }

  @Override
  public Optional<OwnedLease> acquireForThread(LeaseTerms terms) throws InterruptedException {
    return acquisition(terms, Thread.currentThread(), new ThreadMode()).run();
  }

  private MultiAcquisition acquisition(LeaseTerms terms, @Nullable Thread owner, MemberMode mode) {
    CallerWait wait = new CallerWait(terms, this);
    new SameServerCheck(terms, wait).check(members());
    return new MultiAcquisition(this, members(), terms, wait, owner, mode);
  }

  @Override
  public boolean dependsOnCaller() {
    return members().stream().anyMatch(LeaseSource::dependsOnCaller);
  }

  @Override
  public Optional<String> selfDeadlock() {
    return members().stream().flatMap(member -> member.selfDeadlock().stream()).findFirst();
  }

  @Override
  public Optional<String> selfDeadlockAsOwner() {
    return members().stream()
        .filter(member -> ThreadOwnership.leaseOf(member.identity()).isEmpty())
        .flatMap(member -> member.selfDeadlockAsOwner().stream())
        .findFirst();
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
