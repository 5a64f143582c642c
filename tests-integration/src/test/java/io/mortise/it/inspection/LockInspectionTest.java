package io.mortise.it.inspection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockException;
import io.mortise.core.LockInspection;
import io.mortise.core.LockInspection.Mode;
import io.mortise.core.LockInspection.Participant;
import io.mortise.core.LockInspection.Participant.Access;
import io.mortise.core.LockInspection.Participant.Library;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.it.support.RedissonPeers;
import io.mortise.multilock.MultiLock;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The holders and waiters of a lock of each family, beside Redisson. */
@Timeout(60)
class LockInspectionTest {
  @RegisterExtension static final RedissonPeers peers = new RedissonPeers();

  private final String name = Names.fresh();

  /** Runs a body while another thread waits for the lock; the wait is interrupted at the end. */
  private static void whileWaiting(Lock lock, Runnable body) throws Exception {
    AsyncCall<Boolean> waiter =
        AsyncCall.start(
            () -> {
              lock.lockInterruptibly();
              lock.unlock();
              return true;
            });
    try {
      body.run();
    } finally {
      waiter.interrupt();
      try {
        waiter.get();
      } catch (InterruptedException expected) {
        // the wait has ended
      }
    }
  }

  private static Participant only(List<Participant> participants) {
    assertEquals(1, participants.size(), participants::toString);
    return participants.get(0);
  }

  /** The end of a lease of 30 s that has begun not long ago. */
  private static void assertLease(Participant holder) {
    assertTrue(holder.remaining().compareTo(RedissonPeers.LONG_LEASE) <= 0, holder::toString);
    assertTrue(holder.remaining().compareTo(Duration.ofSeconds(5)) > 0, holder::toString);
  }

  private static void assertRecent(Optional<Instant> time) {
    Duration ago = Duration.between(time.orElseThrow(), Instant.now());
    assertTrue(ago.abs().compareTo(Duration.ofSeconds(20)) < 0, () -> ago + " ago");
  }

  @Test
  void aFreeLockHasNoHolder() {
    LockInspection found = new RedisLock(peers.here(), name).inspect();

    assertEquals(Mode.FREE, found.mode());
    assertFalse(found.isHeld());
    assertEquals(name, found.name());
    assertEquals(List.of(), found.holders());
    assertEquals(List.of(), found.waiters());
    assertEquals(OptionalLong.empty(), found.lastToken());
    assertTrue(found.isComplete());
  }

  @Test
  void aThreadOfThisClientIsNamed() {
    RedisLock lock = new RedisLock(peers.here(), name);
    lock.lock();
    try {
      LockInspection found = lock.inspect();

      assertEquals(Mode.EXCLUSIVE, found.mode());
      assertTrue(found.isHeld());
      assertEquals(OptionalLong.of(lock.lease().fencingToken()), found.lastToken());
      Participant holder = only(found.holders());
      assertEquals(Library.MORTISE, holder.library());
      assertEquals(Access.EXCLUSIVE, holder.access());
      assertTrue(holder.isThisClient());
      assertEquals(Optional.of(peers.here().id()), holder.clientId());
      assertEquals(OptionalLong.of(ProcessHandle.current().pid()), holder.processId());
      assertTrue(holder.host().isPresent());
      assertEquals(OptionalLong.of(Thread.currentThread().getId()), holder.threadId());
      assertEquals(Optional.of(Thread.currentThread().getName()), holder.threadName());
      assertEquals(1, holder.holdCount());
      assertRecent(holder.acquiredAt());
      assertRecent(holder.askedAt());
      assertLease(holder);
    } finally {
      lock.unlock();
    }
  }

  @Test
  void theThreadThatTakesAHoldOverIsNamed() throws Exception {
    RedisLock lock = new RedisLock(peers.here(), name);
    lock.lock();
    Thread[] taker = new Thread[1];
    AsyncCall<LockInspection> next =
        AsyncCall.start(
            () -> {
              taker[0] = Thread.currentThread();
              lock.lock();
              try {
                return lock.inspect();
              } finally {
                lock.unlock();
              }
            });
    next.awaitQueued();
    lock.unlock();

    Participant holder = only(next.get().holders());

    assertEquals(OptionalLong.of(taker[0].getId()), holder.threadId());
  }

  @Test
  void theThreadOfAnotherClientAndItsTimesAreKnown() throws Exception {
    try (Lease lease = new RedisLock(peers.there(), name).tryAcquire().orElseThrow()) {
      LockInspection found = new RedisLock(peers.here(), name).inspect();

      Participant holder = only(found.holders());
      assertFalse(holder.isThisClient());
      assertEquals(Optional.of(peers.there().id()), holder.clientId());
      assertEquals(OptionalLong.of(lease.fencingToken()), found.lastToken());
      assertEquals(OptionalLong.of(Thread.currentThread().getId()), holder.threadId());
      assertRecent(holder.acquiredAt());
      assertLease(holder);
    }
  }

  @Test
  void aHoldOfRedissonHasAClientAThreadAndAHoldCount() {
    Lock theirs = peers.redisson().getLock(name);
    theirs.lock();
    theirs.lock();
    try {
      LockInspection found = new RedisLock(peers.here(), name).inspect();

      Participant holder = only(found.holders());
      assertEquals(Library.REDISSON, holder.library());
      assertEquals(Optional.of(peers.redisson().getId()), holder.clientId());
      assertEquals(OptionalLong.of(Thread.currentThread().getId()), holder.threadId());
      assertEquals(2, holder.holdCount());
      assertEquals(Optional.empty(), holder.host());
      assertEquals(Optional.empty(), holder.acquiredAt());
      assertLease(holder);
    } finally {
      theirs.unlock();
      theirs.unlock();
    }
  }

  @Test
  void aHoldWithoutAnEndHasTheLongestLease() {
    peers.server().command("HSET", name, "somebody", "1");
    try {
      Participant holder = only(new RedisLock(peers.here(), name).inspect().holders());

      assertEquals(Library.UNKNOWN, holder.library());
      assertEquals("somebody", holder.id());
      assertEquals(LockOptions.MAX_LEASE, holder.remaining());
    } finally {
      peers.server().command("DEL", name);
    }
  }

  @Test
  void theQueueOfAFairLockIsInItsOrder() throws Exception {
    RedisFairLock lock = new RedisFairLock(peers.here(), name);
    RedisFairLock elsewhere = new RedisFairLock(peers.there(), name);
    lock.lock();
    try {
      whileWaiting(
          elsewhere,
          () -> {
            Eventually.until("one waits", () -> lock.queueLength() == 1);
            assertQueue(lock);
          });
    } finally {
      lock.unlock();
    }
  }

  @Test
  void theWaitersOfAPlainLockAreListedAsTheyCame() throws Exception {
    RedisLock lock = new RedisLock(peers.here(), name);
    String waiters = "mortise_waiters:{" + name + "}";
    String later = "aaaaaaaa-0000-8000-8000-aaaaaaaaaaaa:1-2-3";
    lock.lock();
    try {
      whileWaiting(
          new RedisLock(peers.there(), name),
          () -> {
            Eventually.until("one waits", () -> lock.inspect().waiters().size() == 1);
            Participant first = lock.inspect().waiters().get(0);
            assertEquals(Optional.of(peers.there().id()), first.clientId());
            assertEquals(Access.EXCLUSIVE, first.access());
            assertTrue(first.threadId().isPresent());
            assertTrue(first.remaining().compareTo(Duration.ofSeconds(1)) > 0, first::toString);
            peers.server().command("ZADD", waiters, "4000000000000000", later);
            peers.server().command("ZINCRBY", waiters, Long.toString(1L << 52), first.id());
            assertEquals(
                List.of(first.id(), later),
                lock.inspect().waiters().stream().map(Participant::id).toList(),
                "also when the first was notified");
          });
    } finally {
      lock.unlock();
      peers.server().command("DEL", waiters);
    }
  }

  private void assertQueue(RedisFairLock lock) {
    Lock theirs = peers.redisson().getFairLock(name);
    AsyncCall<Boolean> redisson =
        AsyncCall.start(
            () -> {
              theirs.lockInterruptibly();
              theirs.unlock();
              return true;
            });
    try {
      Eventually.until("two wait", () -> lock.queueLength() == 2);

      LockInspection found = new RedisLock(peers.here(), name).inspect();

      assertTrue(only(found.holders()).isThisClient());
      assertEquals(2, found.queueLength());
      assertEquals(2, found.waiters().size());
      Participant first = found.waiters().get(0);
      assertEquals(Optional.of(peers.there().id()), first.clientId());
      assertEquals(Access.EXCLUSIVE, first.access());
      assertEquals(0, first.holdCount());
      assertTrue(first.threadId().isPresent());
      assertRecent(first.askedAt());
      assertTrue(first.remaining().compareTo(Duration.ofSeconds(1)) > 0, first::toString);
      Participant second = found.waiters().get(1);
      assertEquals(Library.REDISSON, second.library());
      assertEquals(Optional.of(peers.redisson().getId()), second.clientId());
    } finally {
      redisson.interrupt();
      Eventually.until("it has left", redisson::isDone);
    }
  }

  @Test
  void readersOfBothLibrariesAreListedWithTheirLeases() throws Exception {
    RedisReadWriteLock ours = new RedisReadWriteLock(peers.here(), name);
    Lock theirs = peers.redisson().getReadWriteLock(name).readLock();
    ours.readLock().lock();
    theirs.lock();
    try {
      LockInspection found = ours.writeLock().inspect();

      assertEquals(Mode.READ, found.mode());
      assertEquals(
          List.of(Library.MORTISE, Library.REDISSON),
          found.holders().stream().map(Participant::library).sorted().toList());
      found.holders().forEach(holder -> assertEquals(Access.READ, holder.access()));
      found.holders().forEach(LockInspectionTest::assertLease);
      assertTrue(new RedisLock(peers.here(), name).inspect().isHeld(), "of any family");

      whileWaiting(
          new RedisReadWriteLock(peers.there(), name).writeLock(),
          () ->
              Eventually.untilAsserted(
                  "the writer is seen",
                  () -> {
                    Participant waiter = only(ours.readLock().inspect().waiters());
                    assertEquals(Access.WRITE, waiter.access());
                    assertEquals(Optional.of(peers.there().id()), waiter.clientId());
                  }));
    } finally {
      theirs.unlock();
      ours.readLock().unlock();
    }
  }

  @Test
  void aWriterAndTheReadersThatWaitAreListed() throws Exception {
    RedisReadWriteLock ours = new RedisReadWriteLock(peers.here(), name);
    ours.writeLock().lock();
    ours.readLock().lock();
    try {
      whileWaiting(
          new RedisReadWriteLock(peers.there(), name).readLock(),
          () ->
              Eventually.untilAsserted(
                  "the reader is seen",
                  () -> {
                    LockInspection found = ours.readLock().inspect();
                    assertEquals(Mode.WRITE, found.mode());
                    assertEquals(2, found.holders().size());
                    found.holders().forEach(LockInspectionTest::assertLease);
                    Participant waiter = only(found.waiters());
                    assertEquals(Access.READ, waiter.access());
                    assertEquals(Optional.of(peers.there().id()), waiter.clientId());
                  }));
    } finally {
      ours.readLock().unlock();
      ours.writeLock().unlock();
    }
  }

  @Test
  void theQueueOfAFairReadWriteLockHasReadersAndWriters() throws Exception {
    DistributedLock held = RedisReadWriteLock.fair(peers.here(), name).writeLock();
    RedisReadWriteLock asked = RedisReadWriteLock.fair(peers.there(), name);
    held.lock();
    try {
      whileWaiting(
          asked.readLock(),
          () -> {
            Eventually.until("it waits", () -> asked.queueLength() == 1);
            Participant reader = only(held.inspect().waiters());
            assertEquals(Access.READ, reader.access());
          });
      whileWaiting(
          asked.writeLock(),
          () -> {
            Eventually.until("it waits", () -> asked.queueLength() == 1);
            Participant writer = only(held.inspect().waiters());
            assertEquals(Access.WRITE, writer.access());
            assertEquals(Optional.of(peers.there().id()), writer.clientId());
          });
    } finally {
      held.unlock();
    }
  }

  @Test
  void aMultiLockHasTheInspectionsOfItsMembers() {
    RedisLock one = new RedisLock(peers.here(), name + ":1");
    RedisLock two = new RedisLock(peers.here(), name + ":2");
    two.lock();
    try {
      LockInspection found = new MultiLock(List.of(one, two)).inspect();

      assertEquals(Mode.COMPOSITE, found.mode());
      assertTrue(found.isHeld());
      assertEquals(
          List.of(Mode.FREE, Mode.EXCLUSIVE),
          found.members().stream().map(LockInspection::mode).toList());
    } finally {
      two.unlock();
    }
  }

  @Test
  void aKeyOfAnotherTypeIsAnError() {
    peers.server().command("SET", name, "text");
    try {
      LockException thrown =
          assertThrows(LockException.class, () -> new RedisLock(peers.here(), name).inspect());
      assertEquals(LockException.Reason.WRONG_TYPE, thrown.reason());
    } finally {
      peers.server().command("DEL", name);
    }
  }

  @Test
  void anInspectionChangesNothing() {
    try (Lease held = new RedisLock(peers.there(), name).tryAcquire().orElseThrow()) {
      peers.server().command("RPUSH", "redisson_lock_queue:{" + name + "}", "dead");
      peers.server().command("ZADD", "redisson_lock_timeout:{" + name + "}", "1", "dead");

      Participant dead = only(new RedisLock(peers.here(), name).inspect().waiters());

      assertEquals(Duration.ZERO, dead.remaining());
      assertEquals(1L, peers.server().command("LLEN", "redisson_lock_queue:{" + name + "}"));
      assertTrue(held.isValid());
    } finally {
      peers
          .server()
          .command(
              "DEL", "redisson_lock_queue:{" + name + "}", "redisson_lock_timeout:{" + name + "}");
    }
  }

  /** Until a script looks, the hash has the mode of the writer. */
  @Test
  void readersThatAWriteHoldHasLeftBehindAreReaders() {
    RedisReadWriteLock lock = new RedisReadWriteLock(peers.here(), name);
    lock.writeLock().lock();
    lock.readLock().lock();
    List<?> ofTheWriter =
        (List<?>) peers.server().command("KEYS", "{" + name + "}:*:write:rwlock_timeout:1");
    assertEquals(1, ofTheWriter.size());
    peers.server().command("DEL", String.valueOf(ofTheWriter.get(0)));

    LockInspection found = lock.readLock().inspect();

    assertEquals(Mode.READ, found.mode());
    assertEquals(Access.READ, only(found.holders()).access());
    lock.readLock().unlock();
    assertThrows(LeaseLostException.class, lock.writeLock()::unlock);
  }
}
