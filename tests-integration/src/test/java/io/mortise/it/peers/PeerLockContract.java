package io.mortise.it.peers;

import static io.mortise.it.support.LockFixture.assertPrompt;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.LateAnswer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A lock of Redisson and one of ours with the same name are one lock, with every version. */
@Timeout(60)
@Tag("redis-version")
@Execution(ExecutionMode.CONCURRENT) // the tests wait more than they compute
abstract class PeerLockContract {
  private static final int THREADS_A_CLIENT = 2;
  private static final int CYCLES_A_THREAD = 60;
  private static final Duration SHORT_LEASE = Duration.ofSeconds(5);

  @RegisterExtension static final VersionedPeers peers = new VersionedPeers();

  final RedissonVersion version;

  /** Guarded by the lock alone: read, then written. */
  private int unguarded;

  PeerLockContract(RedissonVersion version) {
    this.version = version;
  }

  /** Returns the lock of a client of Redisson. */
  abstract Lock theirs(RedissonPeer client);

  /** Returns the lock of a client of ours. */
  abstract DistributedLock ours(LockClient client);

  final Lock theirs() {
    return theirs(peers.of(version));
  }

  /** Starts a thread of Redisson that locks and unlocks; returns when it waits for a message. */
  static AsyncCall<Void> theyWait(Lock lock) {
    AsyncCall<Void> call = AsyncCall.cycle(lock).awaitIn(Semaphore.class);
    Eventually.until("parked", () -> call.thread().getState() == Thread.State.TIMED_WAITING);
    return call;
  }

  /** Starts a thread of ours that locks and unlocks; returns when it waits. */
  static AsyncCall<Void> weWait(Lock lock) {
    return AsyncCall.cycle(lock).awaitParked();
  }

  @Test
  void aHoldOfEitherExcludesTheOtherUntilItIsReleased() throws Exception {
    assertExcludes(theirs(), ours(peers.here()));
    assertExcludes(ours(peers.here()), theirs());
  }

  private static void assertExcludes(Lock held, Lock other) throws Exception {
    held.lock();
    assertFalse(other.tryLock());
    assertFalse(LateAnswer.repeat(Duration.ofMillis(50), () -> other.tryLock(50, MILLISECONDS)));
    held.unlock();
    assertTrue(other.tryLock());
    other.unlock();
  }

  @Test
  void theirReleaseWakesOurWaiter() throws Exception {
    Lock theirs = theirs();
    theirs.lock();
    AsyncCall<Void> waiter = weWait(ours(peers.here()));
    theirs.unlock();
    assertPrompt(waiter);
  }

  @Test
  void ourReleaseWakesTheirWaiter() throws Exception {
    Lock ours = ours(peers.here());
    ours.lock();
    AsyncCall<Void> waiter = theyWait(theirs());
    ours.unlock();
    assertPrompt(waiter);
  }

  /**
   * The lease is short, because a thread of Redisson that is about to park misses the message of a
   * write lock, its own too, and asks again when the lease ends.
   */
  @Test
  void cyclesOfBothDoNotOverlap() throws Exception {
    List<AsyncCall<Void>> all = new ArrayList<>();
    try (RedissonPeer redisson = peers.connect(version, SHORT_LEASE);
        LockClient one = peers.client(SHORT_LEASE);
        LockClient two = peers.client(SHORT_LEASE)) {
      for (Lock lock : List.of(theirs(redisson), ours(one), ours(two))) {
        for (int i = 0; i < THREADS_A_CLIENT; i++) {
          all.add(AsyncCall.run(() -> cycles(lock)));
        }
      }
      AsyncCall.join(all);
    }
    assertEquals(all.size() * CYCLES_A_THREAD, unguarded, "an increment was lost");
  }

  private void cycles(Lock lock) {
    for (int i = 0; i < CYCLES_A_THREAD; i++) {
      lock.lock();
      int read = unguarded;
      Thread.onSpinWait();
      unguarded = read + 1;
      lock.unlock();
    }
  }
}
