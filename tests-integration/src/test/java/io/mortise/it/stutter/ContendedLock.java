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
import io.mortise.segmentedlock.SegmentProtocols;
import io.mortise.testkit.HoldLog.Mode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.BiFunction;

/** The kinds of locks that threads of two clients contend for, with default options. */
enum ContendedLock {
  PLAIN(1, (clients, name) -> new RedisLock(clients.get(0), name)),
  FAIR(1, (clients, name) -> new RedisFairLock(clients.get(0), name)),
  READ_WRITE(1, (clients, name) -> new RedisReadWriteLock(clients.get(0), name).writeLock()),
  ANY_SEGMENT(1, (clients, name) -> SegmentProtocols.any(clients.get(0), name, 1)),
  MULTI(
      2,
      (clients, name) ->
          new MultiLock(
              new RedisLock(clients.get(0), name + ":a"),
              new RedisLock(clients.get(1), name + ":b"))),
  RED(3, (clients, name) -> RedLock.builder().members(name, clients).build());

  /** Of each client. */
  private static final int THREADS = 4;

  private static final int READERS = 8;

  /** A thread that locks again and again. */
  record Contender(DistributedLock lock, Mode mode) {}

  private final int servers;

  @SuppressWarnings("ImmutableEnumChecker") // lambdas without state
  private final BiFunction<List<LockClient>, String, DistributedLock> exclusiveLock;

  ContendedLock(int servers, BiFunction<List<LockClient>, String, DistributedLock> exclusiveLock) {
    this.servers = servers;
    this.exclusiveLock = exclusiveLock;
  }

  /** Returns how many independent servers it needs. */
  int servers() {
    return servers;
  }

  /** Returns all threads; {@code here} and {@code there} are two clients of each server. */
  List<Contender> contenders(List<LockClient> here, List<LockClient> there, String name) {
    Contender first = new Contender(exclusiveLock.apply(here, name), EXCLUSIVE);
    Contender second = new Contender(exclusiveLock.apply(there, name), EXCLUSIVE);
    List<Contender> all = new ArrayList<>();
    if (this == READ_WRITE) { // the readers of the first client share its hold
      DistributedLock read = new RedisReadWriteLock(here.get(0), name).readLock();
      all.addAll(Collections.nCopies(READERS, new Contender(read, SHARED)));
      all.add(second);
    } else {
      all.addAll(Collections.nCopies(THREADS, first));
      all.addAll(Collections.nCopies(THREADS, second));
    }
    return all;
  }
}
