package io.mortise.it.multilock;

import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.LateAnswer;
import io.mortise.it.support.Names;
import io.mortise.it.support.TwoClients;
import io.mortise.multilock.MultiLock;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The minimum of a {@link MultiLock} is one of the whole. */
@Timeout(60)
class MultiMinimumTest {
  @RegisterExtension static final TwoClients clients = new TwoClients();

  private static final Duration LONG = Duration.ofMinutes(2);
  private static final Duration WAIT = Duration.ofMillis(200);

  private final String name = Names.fresh();
  private final RedisLock first = new RedisLock(clients.here(), name + ":a");
  private final RedisLock second = new RedisLock(clients.here(), name + ":b");
  private final RedisFairLock third = new RedisFairLock(clients.here(), name + ":c");
  private final MultiLock all = new MultiLock(first, second, third);

  @Test
  void membersOfAnAttemptThatFailsAreFree() throws Exception {
    // The fair lock is the first of them all, and the plain ones are tried together.
    assertNoneIsKeptAfterAttempts(new RedisFairLock(clients.there(), name + ":c"));
    assertNoneIsKeptAfterAttempts(new RedisLock(clients.there(), name + ":b"));
  }

  private void assertNoneIsKeptAfterAttempts(DistributedLock busy) throws Exception {
    busy.lock();

    assertFalse(all.atLeast(LONG).tryLock());
    assertFalse(LateAnswer.repeat(WAIT, () -> all.atLeast(LONG).tryLock(WAIT)));
    assertTrue(all.atLeast(LONG).tryAcquire().isEmpty());
    assertTrue(all.atLeast(LONG).acquireAsync(WAIT).toCompletableFuture().join().isEmpty());

    busy.unlock();
    assertFalse(first.isLocked());
    assertFalse(second.isLocked());
    assertFalse(third.isLocked());
  }

  @Test
  void aMemberThatItsThreadKeepsHasTheMinimumToo() {
    third.lock();
    all.atLeast(LONG).lock();
    all.unlock();
    assertTrue(third.isHeldByCurrentThread());
    third.unlock();

    assertTrue(first.isLocked());
    assertTrue(second.isLocked());
    assertTrue(third.isLocked());
    assertTrue(all.forceUnlock());
    assertFalse(all.isLocked());
  }

  @Test
  void theMinimumBeginsWithTheWholeAlsoIfItsThreadHeldAllMembersBefore() {
    Duration minimum = Duration.ofSeconds(3);
    first.lock();
    second.lock();
    third.lock();
    long start = System.nanoTime();
    until("theirs would be over", () -> System.nanoTime() - start > minimum.toNanos());
    all.atLeast(minimum).lock();
    all.unlock();
    first.unlock();

    assertTrue(first.isLocked());
    second.unlock();
    third.unlock();
    assertTrue(all.forceUnlock());
  }

  @Test
  void aClientThatClosesLeavesTheRestOfEachMember() {
    try (LockClient closing = clients.client()) {
      new MultiLock(new RedisLock(closing, name + ":a"), new RedisFairLock(closing, name + ":c"))
          .atLeast(LONG)
          .lock();
    }

    assertTrue(first.remainingLease().orElseThrow().compareTo(LONG.dividedBy(2)) > 0);
    assertTrue(third.remainingLease().orElseThrow().compareTo(LONG.dividedBy(2)) > 0);
    assertTrue(all.forceUnlock());
  }

  @Test
  void aMinimumOfAMemberCountsOnlyWhereItIsLockedByItself() {
    MultiLock composed = new MultiLock(first.atLeast(LONG), second.atLeast(LONG));
    composed.lock();
    composed.unlock();
    assertFalse(composed.isLocked());
  }
}
