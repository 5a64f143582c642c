package io.mortise.it.rwlock;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.spi.LockName;
import io.mortise.it.support.TwoClients;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A reader of a Redisson before 4.4.0 beside ours: its renewal sets the leases of all readers to
 * its own watchdog time, as its release leaves them.
 */
@Timeout(60)
@Tag("redis-version")
class OldRedissonReaderTest {
  private static final String THEIRS = "11111111-1111-4111-8111-111111111111:1";
  private static final Duration LEASE = Duration.ofMinutes(5);

  /** Redisson's default. */
  private static final Duration WATCHDOG = Duration.ofSeconds(30);

  /** The renewal script of Redisson 3.24.3. */
  private static final String RENEW =
      """
      local counter = redis.call('hget', KEYS[1], ARGV[2])
      if (counter ~= false) then
        redis.call('pexpire', KEYS[1], ARGV[1])
        if (redis.call('hlen', KEYS[1]) > 1) then
          local keys = redis.call('hkeys', KEYS[1])
          for n, key in ipairs(keys) do
            counter = tonumber(redis.call('hget', KEYS[1], key))
            if type(counter) == 'number' then
              for i=counter, 1, -1 do
                redis.call('pexpire', KEYS[2] .. ':' .. key .. ':rwlock_timeout:' .. i, ARGV[1])
              end
            end
          end
        end
        return 1
      end
      return 0
      """;

  @RegisterExtension static final TwoClients clients = ReadWriteFixture.clients(LEASE);

  @RegisterExtension
  final ReadWriteFixture locks = new ReadWriteFixture(clients, ReadWriteFixture.SHORT_TIMEOUT);

  private final LockName name = new LockName(locks.name);
  private final String theirLease = name.tagged() + ":" + THEIRS + ":rwlock_timeout:1";

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void ourLeaseIsRestoredAfterTheirRenewalHasShortenedItWithRenewalAndWithout(boolean renewed) {
    DistributedLock lock = locks.here(false).readLock();
    Lease ours = (renewed ? lock.tryAcquire() : lock.tryAcquire(LEASE)).orElseThrow();
    locks.server().command("HSET", name.value(), THEIRS, "1");
    locks.server().command("SET", theirLease, "1");
    String watchdog = Long.toString(WATCHDOG.toMillis());
    assertEquals(
        1L,
        locks.server().command("EVAL", RENEW, "2", name.value(), name.tagged(), watchdog, THEIRS));
    String ourLease =
        locks.leaseKeys().stream().filter(key -> !key.equals(theirLease)).findFirst().orElseThrow();
    assertTrue(locks.millisLeft(ourLease) <= WATCHDOG.toMillis(), "the peer has shortened it");
    locks.server().command("HDEL", name.value(), THEIRS); // its release
    locks.server().command("DEL", theirLease);

    await()
        .atMost(WATCHDOG)
        .until(
            () ->
                locks.millisLeft(ourLease) > WATCHDOG.toMillis()
                    && locks.millisLeft(name.value()) > WATCHDOG.toMillis());
    assertEquals(Lease.State.HELD, ours.state());
    ours.close();
  }
}
