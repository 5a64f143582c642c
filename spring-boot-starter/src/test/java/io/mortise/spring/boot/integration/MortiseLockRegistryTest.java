package io.mortise.spring.boot.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.testkit.InMemoryRedis;
import io.mortise.testkit.InMemoryRedisExtension;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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
      assertThat(lock.tryLock(10, TimeUnit.MILLISECONDS)).isFalse();
      assertThat(lock.tryLock(Duration.ofMillis(10), Duration.ofSeconds(1))).isFalse();
      assertThatThrownBy(() -> registry.executeLocked(42, Duration.ofMillis(10), () -> {}))
          .isInstanceOf(TimeoutException.class);
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
