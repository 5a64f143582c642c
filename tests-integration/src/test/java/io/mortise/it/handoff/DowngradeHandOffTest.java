package io.mortise.it.handoff;

import static io.mortise.it.handoff.Turns.awaitQueued;
import static io.mortise.it.handoff.Turns.options;
import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.SharedRedis;
import io.mortise.it.support.TestThreads;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A thread that reads below its write hold: no other thread may get that write hold, or it would
 * write beside the reader.
 */
@Timeout(120)
class DowngradeHandOffTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  @RegisterExtension final TestThreads threads = new TestThreads();

  @RegisterExtension
  final LockFixture tested = LockFixture.direct(redis, options(100, Duration.ofMinutes(1)));

  private final String name = tested.name();
  private final RedisReadWriteLock lock = new RedisReadWriteLock(tested.client(), name);
  private final DistributedLock write = lock.writeLock();
  private final DistributedLock read = lock.readLock();

  /** How a writer reads. */
  enum Reading {
    AS_OWNER {
      @Override
      Lease begin(DistributedLock read) {
        read.lock();
        return read.lease();
      }

      @Override
      void end(DistributedLock read, Lease lease) {
        read.unlock();
      }
    },
    BY_A_HANDLE {
      @Override
      Lease begin(DistributedLock read) {
        return read.tryAcquire().orElseThrow();
      }
    },
    ASYNCHRONOUSLY {
      @Override
      Lease begin(DistributedLock read) throws Exception {
        return read.acquireAsync(LONG)
            .toCompletableFuture()
            .get(20, TimeUnit.SECONDS)
            .orElseThrow();
      }
    };

    abstract Lease begin(DistributedLock read) throws Exception;

    void end(DistributedLock read, Lease lease) {
      lease.close();
    }
  }

  private boolean exists(String prefix) {
    return redis.exists(prefix + ":{" + name + "}");
  }

  private String writeHold() {
    List<String> holds =
        redis.holders(name).stream()
            .map(String.class::cast)
            .filter(field -> field.endsWith(":write"))
            .toList();
    assertEquals(1, holds.size(), holds::toString);
    return holds.get(0);
  }

  /**
   * Runs two writers, one after the other. The first one has tokens for a hand-off, and the second
   * one waits in the local queue, when the first begins.
   */
  private <T> Future<T> write(Callable<T> first, TestThreads.Work second) throws Exception {
    Lease gate = write.tryAcquire().orElseThrow();
    Future<T> result =
        threads.ask(
            () -> {
              write.lock();
              return first.call();
            });
    awaitQueued(1);
    threads.start(
        () -> {
          write.lock();
          second.run();
          write.unlock();
        });
    awaitQueued(2);
    gate.close();
    return result;
  }

  private static <T> T get(Future<T> future) throws Exception {
    return future.get(20, TimeUnit.SECONDS);
  }

  @ParameterizedTest
  @EnumSource
  void noWriterGetsInBesideAWriterThatReadsOn(Reading reading) throws Exception {
    AtomicBoolean written = new AtomicBoolean();
    Future<Boolean> alone =
        write(
            () -> {
              Lease lease = reading.begin(read);
              write.unlock();
              until("the next one asks", () -> written.get() || exists("mortise_write_intent"));
              boolean before = !written.get();
              reading.end(read, lease);
              return before;
            },
            () -> written.set(true));
    assertTrue(get(alone), "the next writer came in");
    threads.join(LONG);
    assertTrue(written.get());
    until("the lock is free", () -> !redis.exists(name));
  }

  /** An attempt of it may still be on its way, so the hold is that of the first writer alone. */
  @Test
  void aHoldThatWasReadBelowIsReleasedInRedisAlsoWhenTheReadIsOver() throws Exception {
    CompletableFuture<String> next = new CompletableFuture<>();
    Future<String> first =
        write(
            () -> {
              String hold = writeHold();
              assertTrue(read.tryLock());
              read.unlock();
              write.unlock();
              return hold;
            },
            () -> next.complete(writeHold()));
    assertNotEquals(get(first), get(next));
    threads.join(LONG);
  }

  /**
   * The writer leaves while its read attempt is on its way. Either the attempt is the first to
   * arrive, and the read hold keeps the next writer out; or it finds no write hold, and waits.
   */
  @Test
  void aReadThatBeginsBelowAWriterWhoLeavesIsNotBesideTheNext() throws Exception {
    for (int round = 0; round < 50; round++) {
      AtomicBoolean writing = new AtomicBoolean();
      AtomicBoolean reading = new AtomicBoolean();
      CompletableFuture<Boolean> beside = new CompletableFuture<>();
      Future<Boolean> left =
          write(
              () -> {
                var unused =
                    read.acquireAsync(LONG)
                        .thenAccept(
                            lease -> {
                              reading.set(true);
                              boolean seen = writing.get();
                              reading.set(false);
                              lease.orElseThrow().close();
                              beside.complete(seen);
                            });
                write.unlock();
                return true;
              },
              () -> {
                writing.set(true);
                assertFalse(reading.get(), "a reader is inside");
                until(
                    "the read is over, or waits",
                    () -> beside.isDone() || exists("mortise_read_waiters"));
                writing.set(false);
              });
      assertTrue(get(left));
      assertFalse(get(beside), "a writer is inside, round " + round);
      threads.join(LONG);
    }
  }

  /** The token key has the last of the tokens that were reserved for hand-offs. */
  @Test
  void theReadHoldHasTheTokenOfItsWriteHold() throws Exception {
    Future<Long> first =
        write(
            () -> {
              Lease lease = Reading.BY_A_HANDLE.begin(read);
              long token = write.lease().fencingToken();
              assertEquals(token, lease.fencingToken());
              lease.close();
              write.unlock();
              return token;
            },
            () -> {});
    get(first);
    threads.join(LONG);
    try (Lease later = read.tryAcquire().orElseThrow()) {
      assertTrue(later.fencingToken() > get(first));
    }
  }
}
