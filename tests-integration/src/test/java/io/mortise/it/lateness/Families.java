package io.mortise.it.lateness;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.multilock.MultiLock;
import io.mortise.redlock.RedLock;
import io.mortise.rwlock.RedisReadWriteLock;
import java.util.List;

/** Every family, on the servers of three clients; all but RedLock are on the first. */
enum Families {
  PLAIN {
    @Override
    DistributedLock lock(List<LockClient> clients, String name) {
      return new RedisLock(clients.get(0), name);
    }
  },
  FAIR {
    @Override
    DistributedLock lock(List<LockClient> clients, String name) {
      return new RedisFairLock(clients.get(0), name);
    }
  },
  READ {
    @Override
    DistributedLock lock(List<LockClient> clients, String name) {
      return new RedisReadWriteLock(clients.get(0), name).readLock();
    }

    @Override
    DistributedLock rival(List<LockClient> clients, String name) {
      return WRITE.lock(clients, name);
    }
  },
  WRITE {
    @Override
    DistributedLock lock(List<LockClient> clients, String name) {
      return new RedisReadWriteLock(clients.get(0), name).writeLock();
    }
  },
  FAIR_WRITE {
    @Override
    DistributedLock lock(List<LockClient> clients, String name) {
      return new RedisReadWriteLock(clients.get(0), name, true).writeLock();
    }
  },
  MULTI {
    @Override
    DistributedLock lock(List<LockClient> clients, String name) {
      return new MultiLock(
          new RedisLock(clients.get(0), name + ":a"), new RedisLock(clients.get(0), name + ":b"));
    }
  },
  RED {
    @Override
    DistributedLock lock(List<LockClient> clients, String name) {
      return new RedLock(
          clients.stream()
              .map(client -> new RedisLock(client, name))
              .toArray(DistributedLock[]::new));
    }
  };

  /** The lock of that name. */
  abstract DistributedLock lock(List<LockClient> clients, String name);

  /** A lock that whoever holds the first one keeps out. */
  DistributedLock rival(List<LockClient> clients, String name) {
    return lock(clients, name);
  }
}
