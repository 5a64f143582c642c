package io.mortise.it.multilock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.multilock.MultiLock;
import io.mortise.testkit.FaultProxy.LossStyle;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Pitfall 22: a member that cannot be released keeps none of the others, and is told. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class UnlockFailsTest {
  @RegisterExtension static final MemberServers sites = new MemberServers(3);

  private MultiLock lock;

  @BeforeEach
  void open() {
    lock = sites.multi();
  }

  /** It tells of these members, and of no others. */
  private static void assertTold(Executable unlock, int... failed) {
    LockException thrown = assertThrows(LockException.class, unlock);
    assertEquals(Reason.UNREACHABLE, thrown.reason(), thrown::toString);
    for (int i : failed) {
      assertTrue(thrown.getMessage().contains("lock '" + sites.name(i) + "'"), thrown::toString);
      assertEquals(
          1,
          Stream.concat(Stream.of(thrown.getCause()), Arrays.stream(thrown.getSuppressed()))
              .filter(each -> String.valueOf(each.getMessage()).contains(sites.name(i)))
              .count(),
          "one cause for each");
    }
    assertEquals(failed.length - 1, thrown.getSuppressed().length);
    assertTrue(thrown.getMessage().contains("in the background"), thrown::toString);
  }

  private void assertAllCanBeHadSoon() throws Exception {
    sites.restore();
    sites.awaitHeld(Set.of());
    assertTrue(sites.otherMulti().tryLock(MemberServers.LIVENESS));
    sites.otherMulti().unlock();
    assertThrows(IllegalMonitorStateException.class, lock::unlock);
    sites.awaitIdle();
  }

  @ParameterizedTest
  @EnumSource
  void theOthersAreReleasedAndTheOneIsNamed(MemberFault fault) throws Exception {
    lock.lock();
    fault.begin(sites, 1);
    assertTold(lock::unlock, 1);
    assertFalse(sites.isHeld(0));
    assertFalse(sites.isHeld(2));
    assertFalse(lock.isHeldByCurrentThread());
    assertFalse(sites.lock(1).isHeldByCurrentThread());
    assertAllCanBeHadSoon();
  }

  @ParameterizedTest
  @EnumSource
  void aHandleDoesTheSame(MemberFault fault) throws Exception {
    Lease lease = lock.tryAcquire().orElseThrow();
    fault.begin(sites, 0);
    assertTold(lease::close, 0);
    assertFalse(sites.isHeld(1));
    assertFalse(sites.isHeld(2));
    assertEquals(Lease.State.RELEASED, lease.state());
    lease.close();
    assertAllCanBeHadSoon();
  }

  @Test
  void ofTwoBothAreNamed() throws Exception {
    lock.lock();
    MemberFault.REFUSING.begin(sites, 0);
    MemberFault.PAUSED.begin(sites, 2);
    assertTold(lock::unlock, 0, 2);
    assertFalse(sites.isHeld(1));
    assertAllCanBeHadSoon();
  }

  @Test
  void ofAllEachIsNamed() throws Exception {
    Lease lease = lock.tryAcquire().orElseThrow();
    for (int i = 0; i < 3; i++) {
      MemberFault.REFUSING.begin(sites, i);
    }
    assertTold(lease::close, 0, 1, 2);
    assertAllCanBeHadSoon();
  }

  @ParameterizedTest
  @EnumSource
  void anAnswerThatIsLostOnceIsAskedForAgain(LossStyle style) throws Exception {
    lock.lock();
    sites.proxy(1).loseNextReply(style, MemberServers.calling("lock/release"));
    if (style == LossStyle.CLOSE) {
      lock.unlock();
      assertEquals(Set.of(), sites.held());
    } else {
      assertTold(lock::unlock, 1);
    }
    assertAllCanBeHadSoon();
  }
}
