package io.mortise.it.multilock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.core.LeaseLostException;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Eventually;
import io.mortise.multilock.MultiLock;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A thread that has asked whether it holds a MultiLock, and knows that it has lost it. */
@Timeout(60)
class MultiKnownLossTest {
  @RegisterExtension
  static final MemberServers servers = new MemberServers(2, Duration.ofSeconds(10));

  private final RedisLock a = servers.lock(0);
  private final RedisLock b = servers.lock(1);
  private final MultiLock both = servers.multi();

  @AfterEach
  void nothingIsHeld() {
    assertEquals(Set.of(), servers.held());
    assertEquals(0, a.holdCount() + b.holdCount() + both.holdCount());
  }

  private void loseIt() {
    b.forceUnlock();
    Eventually.until("known", () -> !both.isHeldByCurrentThread());
  }

  /** As a program does that unlocks only what it still holds. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void keepsNoMemberAndMayLockAgain(int levels) {
    for (int i = 0; i < levels; i++) {
      both.lock();
    }
    loseIt();

    Eventually.until("given up", () -> servers.held().isEmpty());
    both.lock();
    assertEquals(1, both.holdCount());
    assertEquals(1, a.holdCount());
    both.unlock();
    assertEquals(Set.of(), servers.held());
    assertThrows(IllegalMonitorStateException.class, both::unlock);
  }

  @Test
  void keepsAMemberThatItHasLockedSeparately() {
    a.lock();
    both.lock();
    loseIt();

    assertEquals(1, a.holdCount());
    Eventually.until("given up", () -> servers.held().equals(Set.of(0)));
    a.lease().ensureValid();
    a.unlock();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void isToldWhyByEachUnlock(int levels) {
    for (int i = 0; i < levels; i++) {
      both.lock();
    }
    loseIt();

    for (int i = 0; i < levels; i++) {
      assertThrows(LeaseLostException.class, both::unlock);
    }
    assertThrows(IllegalMonitorStateException.class, both::unlock);
    Eventually.until("given up", () -> servers.held().isEmpty());
  }
}
