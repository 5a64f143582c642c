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
    List<Side> sides(List<LockClient> clients, String name) {
      return List.of(alone(new RedisLock(clients.get(0), name)));
    }
  },
  /** {@link RedisFairLock}. */
  FAIR(1) {
    @Override
    List<Side> sides(List<LockClient> clients, String name) {
      return List.of(alone(new RedisFairLock(clients.get(0), name, PRESENCE)));
    }
  },
  /** {@link RedisReadWriteLock}, readers and writers. */
  READ_WRITE(1) {
    @Override
    List<Side> sides(List<LockClient> clients, String name) {
      return both(new RedisReadWriteLock(clients.get(0), name, false, PRESENCE));
    }
  },
  /** The same, in the order of asking. */
  FAIR_READ_WRITE(1) {
    @Override
    List<Side> sides(List<LockClient> clients, String name) {
      return both(new RedisReadWriteLock(clients.get(0), name, true, PRESENCE));
    }
  },
  /** {@link MultiLock} of two locks on two servers, and each of the two alone. */
  MULTI(2) {
    @Override
    List<Side> sides(List<LockClient> clients, String name) {
      DistributedLock a = new RedisLock(clients.get(0), name + ":a");
      DistributedLock b = new RedisLock(clients.get(1), name + ":b");
      Side together = new Side(new MultiLock(a, b), EXCLUSIVE, List.of(a.name(), b.name()));
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
    List<Side> sides(List<LockClient> clients, String name) {
      return quorum(clients, name);
    }
  },
  /** {@link RedLock} on five servers. */
  RED_5(5) {
    @Override
    List<Side> sides(List<LockClient> clients, String name) {
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
  abstract List<Side> sides(List<LockClient> clients, String name);

  /** All that is guarded in the section of that name; each resource has the name of its lock. */
  List<String> resources(String name) {
    return List.of(name);
  }

  private static Side alone(DistributedLock lock) {
    return new Side(lock, EXCLUSIVE, List.of(lock.name()));
  }

  private static List<Side> both(RedisReadWriteLock lock) {
    List<String> resource = List.of(lock.name());
    return List.of(
        new Side(lock.writeLock(), EXCLUSIVE, resource),
        new Side(lock.readLock(), SHARED, resource));
  }

  private static List<Side> quorum(List<LockClient> clients, String name) {
    return List.of(alone(RedLock.builder().members(name, clients).nodeWaitBudget(BUDGET).build()));
  }
}
