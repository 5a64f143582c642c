package io.mortise.it.peers;

import static io.mortise.it.support.LockFixture.assertPrompt;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Names;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The read-write lock beside {@code RReadWriteLock}: its write lock, and its readers. */
@ParameterizedClass(name = "Redisson {0}")
@EnumSource(RedissonVersion.class)
class ReadWriteLockVersionsTest extends PeerLockContract {
  private final String name = Names.fresh();
  private final ReadWriteLock theirs = peers.of(version).readWriteLock(name);
  private final RedisReadWriteLock ours = new RedisReadWriteLock(peers.here(), name);

  ReadWriteLockVersionsTest(RedissonVersion version) {
    super(version);
  }

  @Override
  Lock theirs(RedissonPeer client) {
    return client.readWriteLock(name).writeLock();
  }

  @Override
  DistributedLock ours(LockClient client) {
    return new RedisReadWriteLock(client, name).writeLock();
  }

  @Test
  void readersOfBothReadTogetherAndExcludeTheWritersOfBoth() {
    theirs.readLock().lock();
    Lease read = ours.readLock().tryAcquire().orElseThrow();
    assertNoWriter();
    theirs.readLock().unlock();
    assertNoWriter();
    assertTrue(theirs.readLock().tryLock(), "theirs beside ours");
    read.close();
    assertNoWriter();
    theirs.readLock().unlock();
    assertTrue(theirs.writeLock().tryLock());
    assertFalse(ours.readLock().tryLock());
    theirs.writeLock().unlock();
    Lease write = ours.writeLock().tryAcquire().orElseThrow();
    assertFalse(theirs.readLock().tryLock());
    write.close();
  }

  private void assertNoWriter() {
    assertFalse(ours.writeLock().tryLock());
    assertFalse(theirs.writeLock().tryLock());
  }

  @Test
  void aReadReleaseOfTheirsWakesOurWriter() throws Exception {
    theirs.readLock().lock();
    AsyncCall<Void> writer = weWait(ours.writeLock());
    theirs.readLock().unlock();
    assertPrompt(writer);
  }

  @Test
  void aReadReleaseOfOursWakesTheirWriter() throws Exception {
    Lease read = ours.readLock().tryAcquire().orElseThrow();
    AsyncCall<Void> writer = theyWait(theirs.writeLock());
    read.close();
    assertPrompt(writer);
  }

  @Test
  void aWriteReleaseOfTheirsWakesAllOurReaders() throws Exception {
    theirs.writeLock().lock();
    List<AsyncCall<Void>> readers =
        Stream.of(peers.here(), peers.there())
            .map(client -> weWait(new RedisReadWriteLock(client, name).readLock()))
            .toList();
    theirs.writeLock().unlock();
    for (AsyncCall<Void> reader : readers) {
      assertPrompt(reader);
    }
  }

  @Test
  void aWriteReleaseOfOursWakesAllTheirReaders() throws Exception {
    Lease write = ours.writeLock().tryAcquire().orElseThrow();
    List<AsyncCall<Void>> readers =
        Stream.generate(() -> theyWait(theirs.readLock())).limit(3).toList();
    write.close();
    for (AsyncCall<Void> reader : readers) {
      assertPrompt(reader);
    }
  }

  /**
   * Nobody may enter when the longer reader leaves. But a writer of theirs sleeps for the time that
   * it got as an answer, and leaves no trace in Redis.
   */
  @Test
  void aWriterOfTheirsIsNotifiedThatTheLockWillEndSooner() throws Exception {
    Lease dead = ours.readLock().withLease(Duration.ofSeconds(2)).tryAcquire().orElseThrow();
    DistributedLock longer = new RedisReadWriteLock(peers.there(), name).readLock();
    Lease leaves = longer.withLease(Duration.ofMinutes(2)).tryAcquire().orElseThrow();
    AsyncCall<Void> writer = theyWait(theirs.writeLock());
    leaves.close();
    writer.get(); // long before the two minutes are over
    assertEquals(Lease.State.LOST, dead.state());
  }
}
