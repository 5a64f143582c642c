package io.mortise.it.stutter;

import static io.mortise.testkit.HoldLog.Mode.EXCLUSIVE;
import static io.mortise.testkit.HoldLog.Mode.SHARED;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.multilock.MultiLock;
import io.mortise.redlock.RedLock;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.HoldLog.Mode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** What contends under stutter: a lock with default options, over two clients. */
enum Family {
  PLAIN(1) {
    @Override
    List<Contender> contenders(List<LockClient> here, List<LockClient> there, String name) {
      List<Contender> all = exclusive(THREADS, new RedisLock(here.get(0), name));
      all.addAll(exclusive(THREADS, new RedisLock(there.get(0), name)));
      return all;
    }
  },
  FAIR(1) {
    @Override
    List<Contender> contenders(List<LockClient> here, List<LockClient> there, String name) {
      List<Contender> all = exclusive(THREADS, new RedisFairLock(here.get(0), name));
      all.addAll(exclusive(THREADS, new RedisFairLock(there.get(0), name)));
      return all;
    }
  },
  /** Readers of one client share its hold; the writer is another client's. */
  READ_WRITE(1) {
    @Override
    List<Contender> contenders(List<LockClient> here, List<LockClient> there, String name) {
      DistributedLock readers = new RedisReadWriteLock(here.get(0), name).readLock();
      DistributedLock writer = new RedisReadWriteLock(there.get(0), name).writeLock();
      List<Contender> all = new ArrayList<>();
      all.addAll(Collections.nCopies(READERS, new Contender(readers, SHARED)));
      all.addAll(exclusive(1, writer));
      return all;
    }
  },
  MULTI(2) {
    @Override
    List<Contender> contenders(List<LockClient> here, List<LockClient> there, String name) {
      List<Contender> all = exclusive(THREADS, multi(here, name));
      all.addAll(exclusive(THREADS, multi(there, name)));
      return all;
    }

    private DistributedLock multi(List<LockClient> clients, String name) {
      return new MultiLock(
          new RedisLock(clients.get(0), name + ":a"), new RedisLock(clients.get(1), name + ":b"));
    }
  },
  RED(3) {
    @Override
    List<Contender> contenders(List<LockClient> here, List<LockClient> there, String name) {
      List<Contender> all = exclusive(THREADS, RedLock.builder().members(name, here).build());
      all.addAll(exclusive(THREADS, RedLock.builder().members(name, there).build()));
      return all;
    }
  };

  /** Of each client. */
  private static final int THREADS = 4;

  private static final int READERS = 8;

  /** A thread that locks again and again. */
  record Contender(DistributedLock lock, Mode mode) {}

  private final int servers;

  Family(int servers) {
    this.servers = servers;
  }

  /** How many independent servers it needs. */
  int servers() {
    return servers;
  }

  /** All threads; {@code here} and {@code there} are two clients of each server. */
  abstract List<Contender> contenders(List<LockClient> here, List<LockClient> there, String name);

  private static List<Contender> exclusive(int threads, DistributedLock lock) {
    return new ArrayList<>(Collections.nCopies(threads, new Contender(lock, EXCLUSIVE)));
  }
}
