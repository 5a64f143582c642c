package io.mortise.it.peers;

import static io.mortise.it.support.RedissonPeers.LONG_LEASE;
import static io.mortise.it.support.RedissonPeers.PROMPT;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.it.support.RedissonPeers;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** A waiter of Redisson gets in when the minimum is over, and not when the lease would be. */
@Timeout(60)
@Tag("redis-version")
class RedissonMinimumTest {
  @RegisterExtension static final RedissonPeers peers = new RedissonPeers();
  private static final Duration MINIMUM = Duration.ofSeconds(1);

  private final String name = Names.fresh();

  /** A lock of ours, and the one of Redisson that waits for it. */
  enum Kind {
    PLAIN,
    FAIR,
    WRITER_BEFORE_READER,
    WRITER_BEFORE_WRITER,
    READER_BEFORE_WRITER;

    DistributedLock ours(String name) {
      return switch (this) {
        case PLAIN -> new RedisLock(peers.here(), name);
        case FAIR -> new RedisFairLock(peers.here(), name);
        case WRITER_BEFORE_READER, WRITER_BEFORE_WRITER ->
            new RedisReadWriteLock(peers.here(), name).writeLock();
        case READER_BEFORE_WRITER -> new RedisReadWriteLock(peers.here(), name).readLock();
      };
    }

    RLock theirs(RedissonClient redisson, String name) {
      return switch (this) {
        case PLAIN -> redisson.getLock(name);
        case FAIR -> redisson.getFairLock(name);
        case WRITER_BEFORE_READER -> redisson.getReadWriteLock(name).readLock();
        case WRITER_BEFORE_WRITER, READER_BEFORE_WRITER ->
            redisson.getReadWriteLock(name).writeLock();
      };
    }
  }

  @ParameterizedTest
  @EnumSource
  void theirWaiterEntersAfterTheMinimum(Kind kind) throws Exception {
    DistributedLock ours = kind.ours(name).withLease(LONG_LEASE).atLeast(MINIMUM);
    RLock theirs = kind.theirs(peers.redisson(), name);
    long start = System.nanoTime();
    ours.lock();
    AsyncCall<Long> waiting =
        AsyncCall.start(
                () -> {
                  assertFalse(theirs.tryLock());
                  theirs.lock();
                  long entered = System.nanoTime();
                  theirs.unlock();
                  return entered;
                })
            .awaitIn(Semaphore.class);
    // Before it parks, Redisson drops the message that wakes all waiters of a read-write lock.
    Eventually.until("parked", () -> waiting.thread().getState() == Thread.State.TIMED_WAITING);
    ours.unlock();

    long millis = (waiting.get() - start) / 1_000_000;

    assertTrue(millis < PROMPT.toMillis(), () -> "entered after " + millis + " ms");
    assertTrue(millis >= MINIMUM.toMillis(), () -> "entered after " + millis + " ms");
  }
}
