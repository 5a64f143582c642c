package io.mortise.it.leases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.SharedRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Fencing tokens increase from hold to hold, whatever happens to Redis. */
@Timeout(60)
class TokenTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  @RegisterExtension final LockFixture tested = LockFixture.direct(redis, LockOptions.builder());

  private final String tokenKey = "redisson_lock_token:{" + tested.name() + "}";
  private final RedisLock lock = tested.lock();
  private final RedisLock lockOfOther = tested.lockOfOther();

  private static long token(RedisLock lock) throws InterruptedException {
    try (Lease lease = lock.acquire(Duration.ofSeconds(20)).orElseThrow()) {
      return lease.fencingToken();
    }
  }

  private void assertLargerAfter(Runnable loss) throws InterruptedException {
    long before = token(lock);
    loss.run();
    long after = token(lockOfOther);
    assertTrue(after > before, () -> before + " is followed by " + after);
  }

  @Test
  void increaseFromHolderToHolder() throws Exception {
    List<AsyncCall<List<Long>>> callers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      RedisLock tried = i % 2 == 0 ? lock : lockOfOther;
      callers.add(
          AsyncCall.start(
              () -> {
                List<Long> tokens = new ArrayList<>();
                for (int j = 0; j < 50; j++) {
                  tokens.add(token(tried));
                }
                return tokens;
              }));
    }
    List<Long> all = new ArrayList<>();
    for (AsyncCall<List<Long>> caller : callers) {
      List<Long> tokens = caller.get();
      assertEquals(tokens.stream().sorted().toList(), tokens);
      all.addAll(tokens);
    }
    assertEquals(all.size(), all.stream().distinct().count());
  }

  @Test
  void increaseWhenTheKeyIsDeleted() throws Exception {
    assertLargerAfter(() -> redis.delete(tokenKey));
  }

  @Test
  void increaseWhenAllDataIsFlushed() throws Exception {
    assertLargerAfter(() -> redis.command("FLUSHALL"));
  }

  @Test
  void increaseWhenTheServerRestartsEmpty() throws Exception {
    assertLargerAfter(() -> redis.server().restartEmpty());
  }

  @Test
  void increaseWhenAFailoverLostTheLastTokens() throws Exception {
    long first = token(lock);
    token(lock);
    assertLargerAfter(() -> redis.command("SET", tokenKey, Long.toString(first)));
  }

  @Test
  void increaseWhenTheClockOfTheServerIsFarBehindTheLastToken() throws Exception {
    long ahead = token(lock) + 3_600_000_000L;
    redis.command("SET", tokenKey, Long.toString(ahead));
    assertEquals(ahead + 1, token(lock));
    assertEquals(ahead + 2, token(lockOfOther));
  }

  @Test
  void theKeyExpiresAfterTheTokenRetention() throws Exception {
    token(lock);
    long life = redis.ttlMillis(tokenKey);
    long retention = tested.client().options().tuning().tokenRetention().toMillis();
    assertTrue(
        life > retention - 10_000 && life <= retention, () -> "it lives for " + life + " ms");
  }

  @Test
  void areTheSameAfterReentry() {
    lock.lock();
    long token = lock.lease().fencingToken();
    lock.lock();
    assertEquals(token, lock.lease().fencingToken());
    lock.unlock();
    assertEquals(Long.toString(token), redis.command("GET", tokenKey));
    lock.unlock();
  }
}
