package io.mortise.it.peers;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLostException;
import io.mortise.core.spi.LockName;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.Lock;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A reader of Redisson shortens what a reader of ours has: each of its renewals sets the life of
 * the hash to its watchdog time, and before 4.4.0 the leases of all readers too. Ours restores both
 * within ten seconds.
 */
@ParameterizedClass(name = "Redisson {0}")
@EnumSource(RedissonVersion.class)
@Timeout(60)
@Execution(ExecutionMode.CONCURRENT) // the tests wait, most of all
class ReaderLeaseVersionsTest {
  private static final Duration LEASE = Duration.ofMinutes(5);

  /** The shortest watchdog time with which our readers are safe. */
  private static final Duration SAFE = Duration.ofSeconds(15);

  /** A watchdog time that ends before our reader asks. */
  private static final Duration SHORT = Duration.ofSeconds(2);

  @RegisterExtension static final VersionedPeers peers = new VersionedPeers(LEASE, SAFE);

  private final RedissonVersion version;
  private final String name = Names.fresh();
  private final DistributedLock ours = new RedisReadWriteLock(peers.here(), name).readLock();
  private final Lock theirReader;
  private final Lock theirWriter;

  ReaderLeaseVersionsTest(RedissonVersion version) {
    this.version = version;
    theirReader = peers.of(version).readWriteLock(name).readLock();
    theirWriter = peers.of(version).readWriteLock(name).writeLock();
  }

  private boolean cutsLeases() {
    return version.isBefore("4.4.0");
  }

  /** Returns the key of the lease of our reader, the only one so far. */
  private String leaseKey() {
    String prefix = new LockName(name).tagged();
    List<?> keys = (List<?>) peers.server().command("KEYS", prefix + ":*:rwlock_timeout:1");
    assertEquals(1, keys.size(), keys::toString);
    return (String) keys.get(0);
  }

  private boolean lasts(String key, Duration time) {
    return peers.pttl(key) > time.toMillis();
  }

  private static boolean lasts(long millis) {
    return millis > SAFE.toMillis();
  }

  /** Returns for how long the hash lasts, and that key, at one moment. */
  private List<Long> millisLeft(String key) {
    String script = "return {redis.call('PTTL', KEYS[1]), redis.call('PTTL', KEYS[2])}";
    return ((List<?>) peers.server().command("EVAL", script, "2", name, key))
        .stream().map(Long.class::cast).toList();
  }

  private static ConditionFactory eventually() {
    return await()
        .pollInSameThread() // which owns Redisson's locks
        .pollInterval(Duration.ofMillis(50))
        .atMost(Eventually.LIVENESS);
  }

  @ParameterizedTest(name = "our reader is renewed: {0}")
  @ValueSource(booleans = {true, false})
  void ourReaderHasItsWholeLeaseAgainAndNoWriterCameIn(boolean renewed) {
    Lease lease = (renewed ? ours.tryAcquire() : ours.withLease(LEASE).tryAcquire()).orElseThrow();
    String leaseKey = leaseKey();
    theirReader.lock();
    // Ours restores both in one step, so both are read in one.
    List<Long> left = eventually().until(() -> millisLeft(leaseKey), both -> !lasts(both.get(0)));
    assertEquals(cutsLeases(), !lasts(left.get(1)), "they have shortened our lease");
    theirReader.unlock();
    eventually()
        .failFast("a writer came in", () -> theirWriter.tryLock())
        .until(() -> lasts(name, SAFE) && lasts(leaseKey, SAFE));
    assertEquals(Lease.State.HELD, lease.state());
    lease.close();
    assertTrue(theirWriter.tryLock());
    theirWriter.unlock();
  }

  /** The limit that {@code docs/wire.md} describes, and that Redisson 4.4.0 does not have. */
  @Test
  void aReaderOfTheirsWithAShortWatchdogLeavesAndAWriterIsInsideUntilOursAsks() {
    try (RedissonPeer peer = peers.connect(version, SHORT)) {
      Lock brief = peer.readWriteLock(name).readLock();
      brief.lock();
      Lease lease = ours.withLease(LEASE).tryAcquire().orElseThrow();
      eventually().until(() -> !lasts(name, SHORT)); // they have renewed
      brief.unlock();
      if (cutsLeases()) {
        assertAWriterIsInsideUntilOursAsks(lease);
      } else {
        assertTrue(lasts(name, SHORT), "their release restores the life of the hash");
        assertFalse(theirWriter.tryLock());
        lease.close();
      }
    }
  }

  /** The same with every version, when their reader dies: its release restores nothing. */
  @Test
  void aReaderOfTheirsWithAShortWatchdogDiesAndAWriterIsInsideUntilOursAsks() {
    Lease lease;
    try (RedissonPeer peer = peers.connect(version, SHORT)) {
      peer.readWriteLock(name).readLock().lock();
      lease = ours.withLease(LEASE).tryAcquire().orElseThrow();
      eventually().until(() -> !lasts(name, SHORT)); // they have renewed
    }
    assertAWriterIsInsideUntilOursAsks(lease);
  }

  private void assertAWriterIsInsideUntilOursAsks(Lease lease) {
    eventually().until(theirWriter::tryLock);
    assertEquals(Lease.State.HELD, lease.state(), "ours does not know yet");
    eventually().until(() -> lease.state() == Lease.State.LOST);
    LeaseLostException lost = assertThrows(LeaseLostException.class, lease::close);
    assertEquals(LeaseLoss.Reason.MISSING, lost.loss().reason());
    theirWriter.unlock();
  }
}
