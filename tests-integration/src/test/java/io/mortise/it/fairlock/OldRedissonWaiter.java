package io.mortise.it.fairlock;

import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A thread in {@code lock()} of a fair lock of Redisson 3.24.3, as all before 3.32.0: its script,
 * and how long it parks after each answer. It gets no message.
 */
final class OldRedissonWaiter implements Callable<Boolean>, AutoCloseable {
  private static final String HOLDER = "11111111-1111-4111-8111-111111111111:1";
  private static final String WAIT = "300000";
  private static final String LEASE = "30000";

  private static final String TRY =
      """
      while true do
        local firstThreadId2 = redis.call('lindex', KEYS[2], 0)
        if firstThreadId2 == false then break end
        local timeout = tonumber(redis.call('zscore', KEYS[3], firstThreadId2))
        if timeout <= tonumber(ARGV[4]) then
          redis.call('zrem', KEYS[3], firstThreadId2)
          redis.call('lpop', KEYS[2])
        else
          break
        end
      end
      if (redis.call('exists', KEYS[1]) == 0)
          and ((redis.call('exists', KEYS[2]) == 0)
            or (redis.call('lindex', KEYS[2], 0) == ARGV[2])) then
        redis.call('lpop', KEYS[2])
        redis.call('zrem', KEYS[3], ARGV[2])
        local keys = redis.call('zrange', KEYS[3], 0, -1)
        for i = 1, #keys, 1 do
          redis.call('zincrby', KEYS[3], -tonumber(ARGV[3]), keys[i])
        end
        redis.call('hset', KEYS[1], ARGV[2], 1)
        redis.call('pexpire', KEYS[1], ARGV[1])
        return nil
      end
      local timeout = redis.call('zscore', KEYS[3], ARGV[2])
      if timeout ~= false then
        return timeout - tonumber(ARGV[3]) - tonumber(ARGV[4])
      end
      local lastThreadId = redis.call('lindex', KEYS[2], -1)
      local ttl
      if lastThreadId ~= false and lastThreadId ~= ARGV[2] then
        ttl = tonumber(redis.call('zscore', KEYS[3], lastThreadId)) - tonumber(ARGV[4])
      else
        ttl = redis.call('pttl', KEYS[1])
      end
      local timeout = ttl + tonumber(ARGV[3]) + tonumber(ARGV[4])
      if redis.call('zadd', KEYS[3], timeout, ARGV[2]) == 1 then
        redis.call('rpush', KEYS[2], ARGV[2])
      end
      return ttl
      """;

  private final ServedOrder order;
  private final CountDownLatch message = new CountDownLatch(1);
  private final AtomicInteger attempts = new AtomicInteger();

  OldRedissonWaiter(ServedOrder order) {
    this.order = order;
  }

  /** Returns the number of attempts; a waiter that parks for ever makes no more. */
  int attempts() {
    return attempts.get();
  }

  /** Returns whether it acquired the lock before it was closed. */
  @Override
  public Boolean call() throws InterruptedException {
    while (true) {
      Long parkMillis = attempt();
      attempts.incrementAndGet();
      if (parkMillis == null) {
        return true;
      }
      if (parkMillis < 0) {
        message.await();
        return false;
      }
      if (message.await(parkMillis, TimeUnit.MILLISECONDS)) {
        return false;
      }
    }
  }

  private Long attempt() {
    String now = Long.toString(System.currentTimeMillis());
    return (Long)
        order
            .server()
            .command(
                "EVAL",
                TRY,
                "3",
                order.name,
                order.list,
                order.deadlines,
                LEASE,
                HOLDER,
                WAIT,
                now);
  }

  @Override
  public void close() {
    message.countDown();
  }
}
