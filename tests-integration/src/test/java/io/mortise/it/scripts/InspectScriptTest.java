package io.mortise.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.scripts.LockScripts.Keys;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
@Tag("redis-version")
class InspectScriptTest {
  @RegisterExtension static final LockScripts redis = new LockScripts();

  private final Keys keys = LockScripts.freshKeys();

  @ParameterizedTest
  @CsvSource({"FREE, -2", "MY_HOLD, 5000", "OTHER_HOLDER_WITHOUT_TTL, -1", "TOKEN, -2"})
  void returnsTheRemainingLease(LockState state, long expected) {
    state.write(redis, keys);
    long answer = redis.inspect(keys);
    assertTrue(
        answer <= expected && answer > expected - (expected < 0 ? 1 : 5_000),
        () -> "the answer is " + answer);
    assertEquals(Long.signum(answer), Long.signum(redis.inspect(keys)), "nothing changed");
  }
}
