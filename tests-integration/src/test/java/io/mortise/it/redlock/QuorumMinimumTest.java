package io.mortise.it.redlock;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.redlock.QuorumLease;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The minimum of a RedLock is one of the majority. */
@Timeout(60)
class QuorumMinimumTest {
  private static final Duration LONG = Duration.ofMinutes(2);

  private static FaultyNodes nodes;
  private static QuorumClients here;
  private static QuorumClients there;

  private final String name = Names.fresh();

  @BeforeAll
  static void start() {
    nodes = new FaultyNodes(3);
    here = nodes.direct(LockOptions.defaults(), Duration.ofSeconds(2));
    there = nodes.direct(LockOptions.defaults(), Duration.ofSeconds(2));
  }

  @AfterAll
  static void stop() {
    nodes.close();
  }

  @Test
  void nodesThatWereGrantedWithoutAMajorityAreFree() throws Exception {
    List<RedisLock> busy =
        List.of(new RedisLock(there.client(0), name), new RedisLock(there.client(1), name));
    busy.forEach(RedisLock::lock);

    assertFalse(here.lock(name).atLeast(LONG).tryLock());
    assertTrue(here.lock(name).atLeast(LONG).tryAcquire().isEmpty());

    RedisLock third = new RedisLock(there.client(2), name);
    Eventually.until("the third node is free", () -> !third.isLocked());
    busy.forEach(RedisLock::unlock);
  }

  @Test
  void aNodeThatIsAcquiredLaterHasTheMinimumToo() throws Exception {
    RedisLock busy = new RedisLock(there.client(2), name);
    busy.lock();
    QuorumLease held = (QuorumLease) here.lock(name).atLeast(LONG).acquire();
    busy.unlock();
    Eventually.until("all nodes hold", () -> held.validNodes() == 3);

    held.close();

    for (int node = 0; node < 3; node++) {
      Duration left = new RedisLock(there.client(node), name).remainingLease().orElseThrow();
      assertTrue(left.compareTo(LONG.dividedBy(2)) > 0, left::toString);
    }
    assertFalse(there.lock(name).tryLock());
    assertTrue(there.lock(name).forceUnlock());
  }
}
