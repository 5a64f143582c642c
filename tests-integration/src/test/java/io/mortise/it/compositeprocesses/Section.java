package io.mortise.it.compositeprocesses;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** A critical section that threads enter one at a time, by one lock or by several. */
interface Section extends AutoCloseable {

  /** Waits without a limit. */
  void enter();

  /** The fencing token of the current thread's hold, for each name; 0 for a lock without tokens. */
  Map<String, Long> tokens();

  /** Releases all locks, even if one release fails; throws that failure. */
  void leave();

  @Override
  void close();

  /**
   * By our locks.
   *
   * @param clients are closed with it
   * @param locks in the order of acquisition
   * @param byName the lock that has the token for a name
   */
  record Ours(
      List<LockClient> clients, List<DistributedLock> locks, Map<String, DistributedLock> byName)
      implements Section {

    @Override
    public void enter() {
      Deque<DistributedLock> acquired = new ArrayDeque<>();
      try {
        for (DistributedLock lock : locks) {
          lock.lock();
          acquired.push(lock);
        }
      } catch (RuntimeException e) {
        releaseAll(acquired, e);
      }
    }

    @Override
    public Map<String, Long> tokens() {
      Map<String, Long> tokens = new LinkedHashMap<>();
      byName.forEach((name, lock) -> tokens.put(name, lock.lease().fencingToken()));
      return tokens;
    }

    @Override
    public void leave() {
      Deque<DistributedLock> acquired = new ArrayDeque<>();
      locks.forEach(acquired::push);
      releaseAll(acquired, null);
    }

    private static void releaseAll(Deque<DistributedLock> acquired, RuntimeException before) {
      List<RuntimeException> failures = new ArrayList<>();
      if (before != null) {
        failures.add(before);
      }
      for (DistributedLock lock : acquired) {
        try {
          lock.unlock();
        } catch (RuntimeException e) {
          failures.add(e);
        }
      }
      if (!failures.isEmpty()) {
        RuntimeException first = failures.get(0);
        failures.stream().skip(1).forEach(first::addSuppressed);
        throw first;
      }
    }

    @Override
    public void close() {
      clients.forEach(LockClient::close);
    }
  }

  /**
   * By a lock of Redisson.
   *
   * @param clients are shut down with it
   * @param names the counters that it guards
   */
  record Theirs(List<RedissonClient> clients, RLock lock, List<String> names) implements Section {

    @Override
    public void enter() {
      lock.lock();
    }

    @Override
    public Map<String, Long> tokens() {
      return names.stream().collect(Collectors.toMap(name -> name, name -> 0L));
    }

    @Override
    public void leave() {
      lock.unlock();
    }

    @Override
    public void close() {
      clients.forEach(RedissonClient::shutdown);
    }
  }
}
