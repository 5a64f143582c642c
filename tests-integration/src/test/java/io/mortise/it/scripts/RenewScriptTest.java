package io.mortise.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ErrorClassifier;
import io.mortise.it.scripts.LockScripts.Keys;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.exceptions.JedisDataException;

@Timeout(60)
@Tag("redis-version")
class RenewScriptTest {
  @RegisterExtension static final LockScripts redis = new LockScripts();

  private final Keys keys = LockScripts.freshKeys();

  /** A state, the answer to a renewal for 20 s in it, and the TTL afterwards. */
  enum Case {
    MY_HOLD(1, 20_000),
    MY_LONG_HOLD(1, 50_000),
    MY_HOLD_WITHOUT_TTL(1, -1),
    FREE(0, -2),
    OTHER_HOLDER(0, 40_000),
    OTHER_HOLDER_WITHOUT_TTL(0, -1),
    READ_WRITE_LOCK(0, 30_000),
    FORCED_FROM_ME(2, -2),
    FORCED_FROM_ANOTHER(0, -2),
    STRING(0, -1);

    final long answer;
    final long ttlMillis;

    Case(long answer, long ttlMillis) {
      this.answer = answer;
      this.ttlMillis = ttlMillis;
    }

    void write(Keys keys) {
      LockState.valueOf(name()).write(redis, keys);
    }

    void check(Keys keys) {
      long ttl = redis.jedis().pttl(keys.lock());
      assertTrue(
          ttl <= ttlMillis && ttl > ttlMillis - 5_000 && (ttl < 0) == (ttlMillis < 0),
          () -> this + " has a TTL of " + ttl + " ms");
    }
  }

  @ParameterizedTest
  @EnumSource
  void renewsOnlyMyOwnHold(Case state) {
    state.write(keys);

    assertEquals(state.answer, redis.renew(keys, "me", 20_000));

    state.check(keys);
    assertEquals(List.of(), redis.published(), "nobody is notified");
  }

  /** An answer for each hold would hide that the client has to connect to the master. */
  @Test
  void aReplicaRefusesTheWholeBatch() {
    Case.MY_HOLD.write(keys);
    redis.jedis().replicaof(redis.server().host(), 1);
    try {
      JedisDataException refusal =
          assertThrows(JedisDataException.class, () -> redis.renew(keys, "me", 50_000));
      assertEquals(Kind.READ_ONLY, ErrorClassifier.of(refusal, "here", true).kind());
    } finally {
      redis.jedis().replicaofNoOne();
    }
    assertEquals(1, redis.renew(keys, "me", 50_000));
  }

  @Test
  void eachHoldOfABatchHasItsOwnAnswerAtItsPlace() {
    List<Case> states = new ArrayList<>();
    for (Case state : Case.values()) {
      states.addAll(Collections.nCopies(5, state));
    }
    Collections.shuffle(states);
    List<Keys> locks = new ArrayList<>();
    List<String> names = new ArrayList<>();
    List<Object> arguments = new ArrayList<>();
    for (Case state : states) {
      Keys lock = LockScripts.freshKeys();
      state.write(lock);
      locks.add(lock);
      names.addAll(List.of(lock.lock(), lock.forced()));
      arguments.addAll(List.of("me", 20_000));
    }

    Object answers = redis.run("lock/renew", names, arguments.toArray());

    assertEquals(states.stream().map(state -> state.answer).toList(), answers);
    for (int i = 0; i < states.size(); i++) {
      states.get(i).check(locks.get(i));
    }
  }

  @Test
  void aBatchOfFiveHundredIsRenewed() {
    List<String> names = new ArrayList<>();
    List<Object> arguments = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      Keys lock = LockScripts.freshKeys();
      redis.hold(lock, "me", 5_000);
      names.addAll(List.of(lock.lock(), lock.forced()));
      arguments.addAll(List.of("me", 20_000 + i));
    }

    Object answers = redis.run("lock/renew", names, arguments.toArray());

    assertEquals(Collections.nCopies(500, 1L), answers);
    redis.assertTtl(names.get(0), 20_000);
    redis.assertTtl(names.get(998), 20_499);
  }

  @Test
  void neverRevivesAReleasedHold() {
    redis.acquire(keys, "me", 20_000);
    redis.release(keys, "me");

    assertEquals(0, redis.renew(keys, "me", 20_000));
    assertEquals(0, redis.renew(keys, "me", 20_000));

    assertEquals(Map.of(), redis.jedis().hgetAll(keys.lock()));
  }
}
