package io.mortise.it.multilock;

import static io.mortise.it.support.Eventually.LIVENESS;
import static io.mortise.it.support.ServerFault.PAUSED;
import static io.mortise.it.support.ServerFault.REFUSING;
import static io.mortise.it.support.SharedRedis.calling;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.it.support.EachOutage;
import io.mortise.it.support.ServerFault;
import io.mortise.multilock.MultiLock;
import io.mortise.testkit.FaultProxy.LossStyle;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A member that cannot be released is reported, and keeps none of the others held. */
@Timeout(60)
class UnlockFailsTest {
  @RegisterExtension static final MemberServers servers = new MemberServers(3);

  private final MultiLock lock = servers.multi();

  /** The exception names these members, and no others. */
  private static void assertReported(Executable unlock, int... failed) {
    LockException thrown = assertThrows(LockException.class, unlock);
    assertEquals(Reason.UNREACHABLE, thrown.reason(), thrown::toString);
    for (int i : failed) {
      assertTrue(thrown.getMessage().contains("lock '" + servers.name(i) + "'"), thrown::toString);
      assertEquals(
          1,
          Stream.concat(Stream.of(thrown.getCause()), Arrays.stream(thrown.getSuppressed()))
              .filter(each -> String.valueOf(each.getMessage()).contains(servers.name(i)))
              .count(),
          "one cause for each");
    }
    assertEquals(failed.length - 1, thrown.getSuppressed().length);
    assertTrue(thrown.getMessage().contains("in the background"), thrown::toString);
  }

  private void assertAllAreAvailableSoon() throws Exception {
    servers.restore();
    servers.awaitHeld(Set.of());
    assertTrue(servers.otherMulti().tryLock(LIVENESS));
    servers.otherMulti().unlock();
    assertThrows(IllegalMonitorStateException.class, lock::unlock);
    servers.awaitIdle();
  }

  @ParameterizedTest
  @EachOutage
  void theOthersAreReleasedAndTheOneIsNamed(ServerFault fault) throws Exception {
    lock.lock();
    servers.begin(fault, 1);
    assertReported(lock::unlock, 1);
    assertFalse(servers.isHeld(0));
    assertFalse(servers.isHeld(2));
    assertFalse(lock.isHeldByCurrentThread());
    assertFalse(servers.lock(1).isHeldByCurrentThread());
    assertAllAreAvailableSoon();
  }

  @ParameterizedTest
  @EachOutage
  void aHandleDoesTheSame(ServerFault fault) throws Exception {
    Lease lease = lock.tryAcquire().orElseThrow();
    servers.begin(fault, 0);
    assertReported(lease::close, 0);
    assertFalse(servers.isHeld(1));
    assertFalse(servers.isHeld(2));
    assertEquals(Lease.State.RELEASED, lease.state());
    lease.close();
    assertAllAreAvailableSoon();
  }

  @Test
  void ofTwoBothAreNamed() throws Exception {
    lock.lock();
    servers.begin(REFUSING, 0);
    servers.begin(PAUSED, 2);
    assertReported(lock::unlock, 0, 2);
    assertFalse(servers.isHeld(1));
    assertAllAreAvailableSoon();
  }

  @Test
  void ofAllEachIsNamed() throws Exception {
    Lease lease = lock.tryAcquire().orElseThrow();
    servers.begin(REFUSING, 0, 1, 2);
    assertReported(lease::close, 0, 1, 2);
    assertAllAreAvailableSoon();
  }

  @ParameterizedTest
  @EnumSource
  void aReplyThatIsLostOnceIsRequestedAgain(LossStyle style) throws Exception {
    lock.lock();
    servers.proxy(1).loseNextReply(style, calling("lock/release"));
    if (style == LossStyle.CLOSE) {
      lock.unlock();
      assertEquals(Set.of(), servers.held());
    } else {
      assertReported(lock::unlock, 1);
    }
    assertAllAreAvailableSoon();
  }
}
