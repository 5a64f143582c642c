package io.mortise.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.NotifyingProtocol;
import io.mortise.it.support.Names;
import io.mortise.it.support.ScriptServer;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Attempts on a server that refuses whatever takes memory: those that come anew are refused and
 * leave nothing behind; those that have a place, or the lock, ask again as before.
 */
@Timeout(60)
@Tag("redis-version")
class AttemptsWithoutMemoryTest {
  private static final long LEASE = 60_000;
  private static final String HOLDER = "fffffffe-0000-8000-8000-000000000000:1";
  private static final String FIRST = "fffffffd-0000-8000-8000-000000000000:1";
  private static final String SECOND = "fffffffc-0000-8000-8000-000000000000:1";

  @RegisterExtension static final ScriptServer redis = new ScriptServer();

  private final String name = Names.fresh();

  @BeforeEach
  @AfterEach
  void empty() {
    limit("0");
    redis.jedis().flushAll();
  }

  private static void limit(String bytes) {
    redis.jedis().configSet("maxmemory", bytes);
  }

  private static long attempt(LockProtocol lock, String holder) {
    Object answer = redis.run(lock.acquire(holder, LEASE, true, 0));
    return (Long) ((List<?>) answer).get(0);
  }

  private static void assertRefused(LockProtocol lock, String holder) {
    final Set<String> before = new TreeSet<>(redis.jedis().keys("*"));
    limit("1");
    String message =
        assertThrows(JedisDataException.class, () -> attempt(lock, holder)).getMessage();
    assertTrue(message.contains("OOM"), message);
    limit("0");
    assertEquals(before, new TreeSet<>(redis.jedis().keys("*")));
  }

  /** Keeps newcomers out. */
  private void hold(ScriptedKind kind) {
    for (LockProtocol held : kind.toHold(name)) {
      assertEquals(1, attempt(held, HOLDER));
    }
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "SEGMENT") // as a plain lock
  void aFreeLockIsNotAcquired(ScriptedKind kind) {
    LockProtocol lock = kind.of(name);
    assertRefused(lock, HOLDER);
  }

  /** The token is there already: its expiry alone takes no memory. */
  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "SEGMENT") // as a plain lock
  void aLockThatWasHeldBeforeIsNotAcquired(ScriptedKind kind) {
    LockProtocol lock = kind.of(name);
    assertEquals(1, attempt(lock, HOLDER));
    redis.run(lock.release(HOLDER));
    redis.awaitNextMillisecond();
    assertRefused(lock, FIRST);
  }

  @ParameterizedTest
  @EnumSource(names = {"READ", "FAIR_READ"})
  void aReaderDoesNotJoinOthers(ScriptedKind kind) {
    LockProtocol lock = kind.of(name);
    assertEquals(1, attempt(lock, HOLDER));
    redis.awaitNextMillisecond();
    assertRefused(lock, FIRST);
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "SEGMENT") // as a plain lock
  void theFirstWaiterDoesNotJoin(ScriptedKind kind) {
    hold(kind);
    assertRefused(kind.of(name), FIRST);
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "SEGMENT") // as a plain lock
  void theSecondWaiterDoesNotJoin(ScriptedKind kind) {
    hold(kind);
    assertEquals(2, attempt(kind.of(name), FIRST));
    redis.awaitNextMillisecond();
    assertRefused(kind.of(name), SECOND);
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "SEGMENT") // as a plain lock
  void waitersAskAgain(ScriptedKind kind) {
    hold(kind);
    LockProtocol lock = kind.of(name);
    assertEquals(2, attempt(lock, FIRST));
    assertEquals(2, attempt(lock, SECOND));
    redis.awaitNextMillisecond();
    limit("1");
    assertEquals(2, attempt(lock, FIRST));
    assertEquals(2, attempt(lock, SECOND));
  }

  /** The intent was that of a writer that died, and is over. */
  @Test
  void aWriterThatAsksAgainSetsTheIntentAnew() {
    hold(ScriptedKind.WRITE);
    LockProtocol lock = ScriptedKind.WRITE.of(name);
    assertEquals(2, attempt(lock, FIRST));
    String intent = new LockName(name).derive("mortise_write_intent");
    assertEquals(1, redis.jedis().del(intent));
    limit("1");
    assertEquals(2, attempt(lock, FIRST));
    assertEquals(lock.hashField(FIRST), redis.jedis().get(intent));
  }

  /** Its reply was lost. */
  @ParameterizedTest
  @EnumSource(names = {"READ", "FAIR_READ"})
  void aReaderRepeatsItsAttempt(ScriptedKind kind) {
    LockProtocol lock = kind.of(name);
    assertEquals(1, attempt(lock, HOLDER));
    assertEquals(1, attempt(lock, FIRST));
    limit("1");
    assertEquals(1, attempt(lock, HOLDER));
    assertEquals(1, attempt(lock, FIRST));
  }

  private NotifyingProtocol withTwoWaitersAndTheFirstNotified(ScriptedKind kind) {
    NotifyingProtocol lock = (NotifyingProtocol) kind.of(name);
    assertEquals(1, attempt(lock, HOLDER));
    assertEquals(2, attempt(lock, FIRST));
    assertEquals(2, attempt(lock, SECOND));
    redis.run(lock.release(HOLDER));
    assertNotified(lock, FIRST);
    return lock;
  }

  private void assertNotified(NotifyingProtocol lock, String holder) {
    String channel = lock.channelWhenQueued(holder);
    assertTrue(redis.published().contains(channel + " 0"), holder);
  }

  private String firstPlace(ScriptedKind kind) {
    String waiters = kind == ScriptedKind.PLAIN ? "mortise_waiters" : "mortise_write_waiters";
    return redis.jedis().zrange(new LockName(name).derive(waiters), 0, 0).get(0);
  }

  @ParameterizedTest
  @EnumSource(names = {"PLAIN", "WRITE"})
  void aNotifiedWaiterThatComesInVainHasItsPlaceBack(ScriptedKind kind) {
    NotifyingProtocol lock = withTwoWaitersAndTheFirstNotified(kind);
    String other = HOLDER.replace(":1", ":2");
    assertEquals(1, attempt(lock, other));
    assertEquals(lock.hashField(SECOND), firstPlace(kind));
    limit("1");
    assertEquals(2, attempt(lock, FIRST));
    assertEquals(lock.hashField(FIRST), firstPlace(kind));
  }

  @ParameterizedTest
  @EnumSource(names = {"PLAIN", "WRITE"})
  void theNextWaiterIsNotifiedWhenOneDoesNotCome(ScriptedKind kind) {
    NotifyingProtocol lock = withTwoWaitersAndTheFirstNotified(kind);
    limit("1");
    assertEquals(1L, redis.run(lock.notifyNext()));
    assertNotified(lock, SECOND);
  }

  /** It has been notified, and its turn has begun, but the rest of a minimum keeps it out. */
  @Test
  void aReaderWhoseTurnItIsAsksAgain() {
    LockProtocol writer = ScriptedKind.WRITE.of(name);
    assertEquals(1, attempt(writer, HOLDER));
    LockProtocol reader = ScriptedKind.READ.of(name);
    assertEquals(2, attempt(reader, FIRST));
    redis.run(writer.keep(HOLDER, LEASE));
    limit("1");
    assertEquals(2, attempt(reader, FIRST));
    assertEquals(2, attempt(reader, FIRST));
  }

  /** The set of the readers has an end for one that its lease contradicts. */
  @ParameterizedTest
  @EnumSource(names = {"WRITE", "FAIR_WRITE"})
  void aWriterDoesNotJoinWhereTheEndOfAReaderIsWrong(ScriptedKind kind) {
    LockProtocol reader = ScriptedKind.READ.of(name);
    assertEquals(1, attempt(reader, HOLDER));
    assertEquals(1, attempt(reader, FIRST));
    String readers = new LockName(name).derive("mortise_readers");
    double end = redis.jedis().zscore(readers, HOLDER);
    for (double wrong : List.of(1.0, end + LEASE)) {
      assertEquals(0, redis.jedis().zadd(readers, wrong, HOLDER));
      assertRefused(kind.of(name), SECOND);
    }
  }

  @Test
  void aWriterAsksAgainWhereTheEndOfAReaderIsWrong() {
    LockProtocol reader = ScriptedKind.READ.of(name);
    assertEquals(1, attempt(reader, HOLDER));
    assertEquals(1, attempt(reader, FIRST));
    LockProtocol writer = ScriptedKind.WRITE.of(name);
    assertEquals(2, attempt(writer, SECOND));
    String readers = new LockName(name).derive("mortise_readers");
    double end = redis.jedis().zscore(readers, HOLDER);
    assertEquals(0, redis.jedis().zadd(readers, 1, HOLDER));
    limit("1");
    assertEquals(2, attempt(writer, SECOND));
    assertEquals(1, redis.jedis().zscore(readers, HOLDER), "a hint, which may stay wrong");
    limit("0");
    assertEquals(2, attempt(writer, SECOND));
    assertEquals(end, redis.jedis().zscore(readers, HOLDER), 5_000);
  }
}
