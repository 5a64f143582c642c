package io.mortise.it.leases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.SharedRedis;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The namespace of a client is the beginning of all its names. */
@Timeout(60)
@Tag("redis-version")
class NamespaceTest {
  private static final String NAMESPACE = "billing:";

  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  @RegisterExtension
  final LockFixture tested =
      LockFixture.direct(redis, LockOptions.builder().namespace(NAMESPACE)).leavingNothing();

  private final String name = tested.name();

  @ParameterizedTest
  @EnumSource
  void isPartOfTheNameTheKeysAndTheMessages(SingleServerLock kind) {
    DistributedLock lock = kind.of(tested.client(), name);
    String full = NAMESPACE + name;

    assertEquals(full, lock.name());
    String message = assertThrows(IllegalMonitorStateException.class, lock::unlock).getMessage();
    assertTrue(message.contains("'" + full + "'"), message);
    lock.lock();
    assertTrue(redis.exists(full));
    List<?> keys = (List<?>) redis.command("KEYS", "*" + name + "*");
    assertTrue(keys.stream().allMatch(key -> key.toString().contains(full)), keys::toString);
    lock.unlock();
  }

  @ParameterizedTest
  @EnumSource
  void separatesItsLocksFromTheOthers(SingleServerLock kind) {
    try (LockClient outside = LockClient.create(redis.uri())) {
      DistributedLock lock = kind.of(tested.client(), name);
      lock.lock();

      DistributedLock sameShortName = SingleServerLock.PLAIN.of(outside, name);
      assertTrue(sameShortName.tryLock());
      sameShortName.unlock();
      assertTrue(kind.of(outside, NAMESPACE + name).isLocked(), "it is the same lock");
      lock.unlock();
    }
  }
}
