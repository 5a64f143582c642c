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

/**
 * The kinds of locks that are put to the proof. A new one is a constant here; nothing else has to
 * know it.
 */
enum Family {
  /** {@link RedisLock}. */
  PLAIN(1) {
    @Override
    List<SectionEntry> sides(List<LockClient> clients, String name) {
      return List.of(alone(new RedisLock(clients.get(0), name)));
    }
  },
  /** {@link RedisFairLock}. */
  FAIR(1) {
    @Override
    List<SectionEntry> sides(List<LockClient> clients, String name) {
      return List.of(alone(new RedisFairLock(clients.get(0), name, PRESENCE)));
    }
  },
  /** {@link RedisReadWriteLock}, readers and writers. */
  READ_WRITE(1) {
    @Override
    List<SectionEntry> sides(List<LockClient> clients, String name) {
      return both(new RedisReadWriteLock(clients.get(0), name, false, PRESENCE));
    }
  },
  /** The same, in the order of asking. */
  FAIR_READ_WRITE(1) {
    @Override
    List<SectionEntry> sides(List<LockClient> clients, String name) {
      return both(new RedisReadWriteLock(clients.get(0), name, true, PRESENCE));
    }
  },
  /** {@link MultiLock} of two locks on two servers, and each of the two alone. */
  MULTI(2) {
    @Override
    List<SectionEntry> sides(List<LockClient> clients, String name) {
      DistributedLock a = new RedisLock(clients.get(0), name + ":a");
      DistributedLock b = new RedisLock(clients.get(1), name + ":b");
      SectionEntry together =
          new SectionEntry(new MultiLock(a, b), EXCLUSIVE, List.of(a.name(), b.name()));
      return List.of(together, alone(a), together, alone(b));
    }

    @Override
    List<String> resources(String name) {
      return List.of(name + ":a", name + ":b");
    }
  },
  /** {@link RedLock} on three servers. */
  RED_3(3) {
    @Override
    List<SectionEntry> sides(List<LockClient> clients, String name) {
      return quorum(clients, name);
    }
  },
  /** {@link RedLock} on five servers. */
  RED_5(5) {
    @Override
    List<SectionEntry> sides(List<LockClient> clients, String name) {
      return quorum(clients, name);
    }
  };

  /** How long a waiter of a queue that has died may delay the others. */
  private static final Duration PRESENCE = Duration.ofSeconds(3);

  /** What a default lease has; the 50 ms of a short one are too little on a busy machine. */
  private static final Duration BUDGET = Duration.ofMillis(300);

  private final int servers;

  Family(int servers) {
    this.servers = servers;
  }

  /** How many independent servers it needs. */
  int servers() {
    return servers;
  }

  /** Whether it goes on, and keeps its promises, whatever a minority of its servers loses. */
  boolean isQuorum() {
    return servers > 2;
  }

  /** The ways into the section of that name, one or several of them more than once. */
  abstract List<SectionEntry> sides(List<LockClient> clients, String name);

  /** All that is guarded in the section of that name; each resource has the name of its lock. */
  List<String> resources(String name) {
    return List.of(name);
  }

  private static SectionEntry alone(DistributedLock lock) {
    return new SectionEntry(lock, EXCLUSIVE, List.of(lock.name()));
  }

  private static List<SectionEntry> both(RedisReadWriteLock lock) {
    List<String> resource = List.of(lock.name());
    return List.of(
        new SectionEntry(lock.writeLock(), EXCLUSIVE, resource),
        new SectionEntry(lock.readLock(), SHARED, resource));
  }

  private static List<SectionEntry> quorum(List<LockClient> clients, String name) {
    return List.of(alone(RedLock.builder().members(name, clients).nodeWaitBudget(BUDGET).build()));
  }
}
