package io.mortise.spring.boot.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.spring.boot.LockType;
import io.mortise.testkit.InMemoryRedis;
import io.mortise.testkit.InMemoryRedisExtension;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.integration.support.locks.DistributedLock;

@ExtendWith(InMemoryRedisExtension.class)
@Timeout(30)
class MortiseLockRegistryTest {
  @Test
  void aKeyIsALockOfThatName(InMemoryRedis redis, LockClient locks) throws Exception {
    MortiseLockRegistry registry = new MortiseLockRegistry(locks, "group:");
    UUID key = UUID.randomUUID();

    registry.executeLocked(
        key,
        () -> {
          assertThat(redis.command("EXISTS", "group:" + key)).isEqualTo(1L);
          assertThat(registry.obtain(key).tryLock()).isTrue(); // again by the same thread
          registry.obtain(key).unlock();
        });

    assertThat(redis.command("EXISTS", "group:" + key)).isEqualTo(0L);
  }

  @Test
  void otherProcessesAreExcluded(InMemoryRedis redis, LockClient locks) throws Exception {
    MortiseLockRegistry registry = new MortiseLockRegistry(locks, "");
    try (Lease other = redis.occupy(client -> client.lock("42"))) {
      assertThat(other.isValid()).isTrue();
      DistributedLock lock = registry.obtain(42);
      assertThat(lock.tryLock()).isFalse();
      assertThat(answered(() -> lock.tryLock(10, TimeUnit.MILLISECONDS))).isFalse();
      Duration briefly = Duration.ofMillis(10);
      assertThat(answered(() -> lock.tryLock(briefly, Duration.ofSeconds(1)))).isFalse();
      assertThatThrownBy(() -> answered(() -> executeLocked(registry, briefly)))
          .isInstanceOf(TimeoutException.class);
    }
  }

  @Test
  void nullIsRefusedWithTheNameOfTheParameter(InMemoryRedis redis, LockClient locks) {
    DistributedLock lock = new MortiseLockRegistry(locks, "").obtain(42);
    Duration second = Duration.ofSeconds(1);
    assertNames("client", () -> new MortiseLockRegistry(null, ""));
    assertNames("prefix", () -> new MortiseLockRegistry(locks, null));
    assertNames("lockKey", () -> new MortiseLockRegistry(locks, "").obtain(null));
    assertNames("ttl", () -> lock.lock(null));
    assertNames("unit", () -> lock.tryLock(0, null));
    assertNames("waitTime", () -> lock.tryLock(null, second));
    assertNames("ttl", () -> lock.tryLock(second, null));
    assertNames("client", () -> LockType.PLAIN.lock(null, "42"));
    assertThat(redis.command("DBSIZE")).isEqualTo(0L);
  }

  private static void assertNames(String parameter, ThrowingCallable call) {
    assertThatThrownBy(call).isInstanceOf(NullPointerException.class).hasMessage(parameter);
  }

  private static boolean executeLocked(MortiseLockRegistry registry, Duration wait)
      throws Exception {
    registry.executeLocked(42, wait, () -> {});
    return true;
  }

  /**
   * Returns what the wait returns. When the machine stands still at its end, the reply to its last
   * command comes too late: then it throws that it does not know, and is done again.
   */
  private static boolean answered(Callable<Boolean> wait) throws Exception {
    while (true) {
      try {
        return wait.call();
      } catch (LockException late) {
        assertThat(late.reason()).isEqualTo(LockException.Reason.UNREACHABLE);
      }
    }
  }

  @Test
  void aTimeToLiveIsTheLease(InMemoryRedis redis, LockClient locks) throws Exception {
    DistributedLock lock = new MortiseLockRegistry(locks, "").obtain("key");

    lock.lock(Duration.ofSeconds(5));
    assertThat((Long) redis.command("PTTL", "key")).isBetween(1L, 5_000L);
    lock.unlock();
    assertThat(lock.tryLock(Duration.ofSeconds(1), Duration.ofSeconds(7))).isTrue();
    assertThat((Long) redis.command("PTTL", "key")).isBetween(5_001L, 7_000L);

    redis.loseHold("key");
    assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
    assertThatThrownBy(lock::newCondition).isInstanceOf(UnsupportedOperationException.class);
  }
}
