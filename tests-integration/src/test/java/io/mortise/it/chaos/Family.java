package io.mortise.it.chaos;

import static io.mortise.testkit.HoldLog.Mode.EXCLUSIVE;
import static io.mortise.testkit.HoldLog.Mode.SHARED;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.multilock.MultiLock;
import io.mortise.redlock.RedLock;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.List;

/** The lock families that are tested. A new one is a constant here, and nothing else. */
enum Family {
  /** {@link RedisLock}. */
  PLAIN(1, (clients, name) -> List.of(exclusive(new RedisLock(clients.get(0), name)))),
  /** {@link RedisFairLock}. */
  FAIR(
      1,
      (clients, name) ->
          List.of(exclusive(new RedisFairLock(clients.get(0), name, Timeouts.WAITER_TIMEOUT)))),
  /** {@link RedisReadWriteLock}, readers and writers. */
  READ_WRITE(1, (clients, name) -> readWrite(clients, name, false)),
  /** The same, in the order of request. */
  FAIR_READ_WRITE(1, (clients, name) -> readWrite(clients, name, true)),
  /** {@link MultiLock} of two locks on two servers, and each of the two alone. */
  MULTI(2, Family::multi) {
    @Override
    List<String> resources(String name) {
      return List.of(name + ":a", name + ":b");
    }
  },
  /** {@link RedLock} on three servers. */
  RED_3(3, Family::quorum),
  /** {@link RedLock} on five servers. */
  RED_5(5, Family::quorum);

  /** The ways into the section of a name. */
  @FunctionalInterface
  private interface Entries {
    List<SectionEntry> of(List<LockClient> clients, String name);
  }

  private static final class Timeouts {
    /** For how long a killed waiter in a queue may delay the others. */
    static final Duration WAITER_TIMEOUT = Duration.ofSeconds(3);

    /** That of a default lease; the 50 ms of a short one are too few on a busy machine. */
    static final Duration NODE_WAIT_BUDGET = Duration.ofMillis(300);
  }

  private final int serverCount;
  private final Entries entries;

  Family(int serverCount, Entries entries) {
    this.serverCount = serverCount;
    this.entries = entries;
  }

  /** Returns how many independent servers it needs. */
  int serverCount() {
    return serverCount;
  }

  /** Returns whether it keeps its guarantees whatever a minority of its servers loses. */
  boolean isQuorum() {
    return serverCount > 2;
  }

  /** Returns the ways into the section of that name, some of them more than once. */
  List<SectionEntry> entries(List<LockClient> clients, String name) {
    return entries.of(clients, name);
  }

  /** Returns the guarded resources of the section of that name, by the names of their locks. */
  List<String> resources(String name) {
    return List.of(name);
  }

  private static SectionEntry exclusive(DistributedLock lock) {
    return new SectionEntry(lock, EXCLUSIVE, List.of(lock.name()));
  }

  private static List<SectionEntry> readWrite(List<LockClient> clients, String name, boolean fair) {
    RedisReadWriteLock lock =
        new RedisReadWriteLock(clients.get(0), name, fair, Timeouts.WAITER_TIMEOUT);
    return List.of(
        new SectionEntry(lock.writeLock(), EXCLUSIVE, List.of(name)),
        new SectionEntry(lock.readLock(), SHARED, List.of(name)));
  }

  private static List<SectionEntry> multi(List<LockClient> clients, String name) {
    DistributedLock a = new RedisLock(clients.get(0), name + ":a");
    DistributedLock b = new RedisLock(clients.get(1), name + ":b");
    SectionEntry both =
        new SectionEntry(new MultiLock(a, b), EXCLUSIVE, List.of(a.name(), b.name()));
    return List.of(both, exclusive(a), both, exclusive(b));
  }

  private static List<SectionEntry> quorum(List<LockClient> clients, String name) {
    return List.of(
        exclusive(
            RedLock.builder()
                .members(name, clients)
                .nodeWaitBudget(Timeouts.NODE_WAIT_BUDGET)
                .build()));
  }
}
