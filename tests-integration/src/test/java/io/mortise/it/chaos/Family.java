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
import io.mortise.segmentedlock.SegmentProtocols;
import io.mortise.segmentedlock.SegmentedLock;
import java.time.Duration;
import java.util.List;

/** The lock families that are tested. A new one is a constant and a case here, and nothing else. */
enum Family {
  /** {@link RedisLock}. */
  PLAIN(1),
  /** {@link RedisFairLock}. */
  FAIR(1),
  /** {@link RedisReadWriteLock}, readers and writers. */
  READ_WRITE(1),
  /** The same, in the order of request. */
  FAIR_READ_WRITE(1),
  /** {@link MultiLock} of two locks on two servers, and each of the two alone. */
  MULTI(2),
  /** {@link SegmentedLock} of one segment: those that ask for it, and those that would take any. */
  SEGMENTED(1),
  /** {@link RedLock} on three servers. */
  RED_3(3),
  /** {@link RedLock} on five servers. */
  RED_5(5);

  /** That of a default lease; the 50 ms of a short one are too few on a busy machine. */
  private static final Duration NODE_WAIT_BUDGET = Duration.ofMillis(300);

  private final int serverCount;

  Family(int serverCount) {
    this.serverCount = serverCount;
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
  List<SectionEntry> entries(List<LockClient> clients, ClientOptions options, String name) {
    LockClient client = clients.get(0);
    Duration waiterTimeout = options.waiterTimeout();
    return switch (this) {
      case PLAIN -> List.of(exclusive(new RedisLock(client, name)));
      case FAIR -> List.of(exclusive(new RedisFairLock(client, name, waiterTimeout)));
      case READ_WRITE, FAIR_READ_WRITE -> {
        RedisReadWriteLock lock =
            this == FAIR_READ_WRITE
                ? RedisReadWriteLock.fair(client, name, waiterTimeout)
                : new RedisReadWriteLock(client, name, waiterTimeout);
        yield List.of(
            new SectionEntry(lock.writeLock(), EXCLUSIVE, List.of(name)),
            new SectionEntry(lock.readLock(), SHARED, List.of(name)));
      }
      case MULTI -> {
        DistributedLock a = new RedisLock(client, name + ":a");
        DistributedLock b = new RedisLock(clients.get(1), name + ":b");
        SectionEntry both = new SectionEntry(new MultiLock(a, b), EXCLUSIVE, resources(name));
        yield List.of(both, exclusive(a), both, exclusive(b));
      }
      case SEGMENTED ->
          List.of(
              exclusive(new SegmentedLock(client, name, 1).segment(0)),
              new SectionEntry(SegmentProtocols.any(client, name, 1), EXCLUSIVE, resources(name)));
      case RED_3, RED_5 ->
          List.of(
              exclusive(
                  RedLock.builder()
                      .members(name, clients)
                      .nodeWaitBudget(NODE_WAIT_BUDGET)
                      .build()));
    };
  }

  /** Returns how many of the entries, from the first on, can be released by force. */
  int forcible(List<SectionEntry> entries) {
    return this == SEGMENTED ? 1 : entries.size();
  }

  /** Returns the guarded resources of the section of that name, by the names of their locks. */
  List<String> resources(String name) {
    return switch (this) {
      case MULTI -> List.of(name + ":a", name + ":b");
      case SEGMENTED -> List.of("{" + name + "}:0");
      default -> List.of(name);
    };
  }

  /** Returns the name of the lock that the member at that index has for the section. */
  String memberName(String name, int index) {
    List<String> resources = resources(name);
    return resources.get(Math.min(index, resources.size() - 1));
  }

  private static SectionEntry exclusive(DistributedLock lock) {
    return new SectionEntry(lock, EXCLUSIVE, List.of(lock.name()));
  }
}
