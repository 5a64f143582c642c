package io.mortise.it.segmentedlock;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.LateAnswer;
import io.mortise.it.support.Names;
import io.mortise.it.support.TwoClients;
import io.mortise.segmentedlock.SegmentLease;
import io.mortise.segmentedlock.SegmentedLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a segmented lock promises, on a real server, with two clients as two processes. */
@Timeout(60)
class SegmentedLockTest {
  private static final Duration HOUR = Duration.ofHours(1);
  private static final Duration NO_WAIT = Duration.ZERO;
  private static final int SEGMENTS = 3;

  @RegisterExtension static final TwoClients clients = new TwoClients();

  private final String name = Names.fresh();
  private final SegmentedLock here = new SegmentedLock(clients.here(), name, SEGMENTS);
  private final SegmentedLock there = new SegmentedLock(clients.there(), name, SEGMENTS);

  private List<SegmentLease> acquireAllSingly(SegmentedLock lock) throws InterruptedException {
    List<SegmentLease> held = new ArrayList<>();
    for (int i = 0; i < lock.segments(); i++) {
      held.add(lock.acquireAny(HOUR).orElseThrow());
    }
    return held;
  }

  private AsyncCall<Optional<SegmentLease>> waiter(SegmentedLock lock) {
    long before = here.queueLength();
    AsyncCall<Optional<SegmentLease>> waiter = AsyncCall.start(() -> lock.acquireAny(HOUR));
    Eventually.until("it is in the queue", () -> here.queueLength() == before + 1);
    return waiter;
  }

  @Test
  void asManyHoldersAsSegmentsAndNoMore() throws Exception {
    List<SegmentLease> held = acquireAllSingly(here);

    assertEquals(Set.of(0, 1, 2), new HashSet<>(held.stream().map(SegmentLease::index).toList()));
    assertTrue(there.tryAcquireAny().isEmpty());
    Duration wait = Duration.ofMillis(50);
    assertTrue(LateAnswer.repeat(wait, () -> there.acquireAny(wait)).isEmpty());
    // Without leaving, it would be there for the waiter timeout.
    await().atMost(Duration.ofSeconds(3)).until(() -> here.queueLength() == 0);

    SegmentLease first = held.get(0);
    first.close();
    SegmentLease next = there.tryAcquireAny().orElseThrow();
    assertEquals(first.index(), next.index());
    assertTrue(next.fencingToken() > first.fencingToken());

    next.close();
    held.get(1).close();
    held.get(2).close();
  }

  @Test
  void theSearchBeginsAnywhere() {
    Set<Integer> seen = new HashSet<>();
    for (int i = 0; i < 200 && seen.size() < SEGMENTS; i++) {
      try (SegmentLease lease = here.tryAcquireAny().orElseThrow()) {
        seen.add(lease.index());
      }
    }
    assertEquals(SEGMENTS, seen.size());
  }

  @Test
  void aReleaseLetsTheFirstWaiterIn() throws Exception {
    List<SegmentLease> held = acquireAllSingly(here);
    AsyncCall<Optional<SegmentLease>> first = waiter(there);
    AsyncCall<Optional<SegmentLease>> second = waiter(here);

    held.get(1).close();

    SegmentLease its = first.get().orElseThrow();
    assertEquals(held.get(1).index(), its.index());
    assertFalse(second.isDone());
    assertEquals(1, here.queueLength());

    its.close();
    second.get().orElseThrow().close();
    held.get(0).close();
    held.get(2).close();
    ClientResources.awaitNone(clients.there());
  }

  @Test
  void aSegmentIsAPlainLockOfItsName() throws Exception {
    DistributedLock segment = here.segment(1);
    RedisLock plain = new RedisLock(clients.there(), segment.name());
    assertEquals("{" + name + "}:1", segment.name());

    plain.lock();
    assertFalse(segment.tryLock());
    assertTrue(here.acquire(1, NO_WAIT).isEmpty());
    for (int i = 0; i < 20; i++) {
      try (SegmentLease lease = here.tryAcquireAny().orElseThrow()) {
        assertTrue(lease.index() != 1);
      }
    }
    AsyncCall<Void> waiter = AsyncCall.cycle(segment);
    waiter.awaitParked();
    plain.unlock();
    waiter.get();

    segment.lock();
    segment.lock();
    assertFalse(plain.tryLock());
    AsyncCall<Void> other = AsyncCall.cycle(plain);
    other.awaitParked();
    segment.unlock();
    segment.unlock();
    other.get();
  }

  @Test
  void aWaiterForAnyIsWokenByTheReleaseOfACertainSegment() throws Exception {
    List<DistributedLock> segments = IntStream.range(0, SEGMENTS).mapToObj(here::segment).toList();
    segments.forEach(DistributedLock::lock);
    AsyncCall<Optional<SegmentLease>> waiter = waiter(there);

    segments.get(2).unlock();

    SegmentLease its = waiter.get().orElseThrow();
    assertEquals(2, its.index());
    AsyncCall<Void> one = AsyncCall.cycle(segments.get(2)).awaitParked();
    its.close();
    one.get();
    segments.get(0).unlock();
    segments.get(1).unlock();
  }

  @Test
  void aReleaseByAnotherLockObjectIsNoticedWithTheNextHeartbeat() throws Exception {
    SegmentedLock one = new SegmentedLock(clients.here(), Names.fresh(), 1);
    RedisLock plain = new RedisLock(clients.there(), one.segment(0).name());
    plain.lock();
    AsyncCall<Optional<SegmentLease>> waiter = AsyncCall.start(() -> one.acquireAny(HOUR));
    Eventually.until("it is in the queue", () -> one.queueLength() == 1);

    plain.unlock();

    waiter.get().orElseThrow().close();
  }

  @Test
  void theEndOfALeaseIsNoticed() throws Exception {
    SegmentedLock one = new SegmentedLock(clients.here(), Names.fresh(), 1);
    clients.server().command("HSET", one.segment(0).name(), "stranger:1", "1");
    clients.server().command("PEXPIRE", one.segment(0).name(), "600");

    one.acquireAny(Duration.ofSeconds(20)).orElseThrow().close();
  }

  @Test
  void aKeyAlwaysMeetsItself() throws Exception {
    Set<Integer> used = new HashSet<>();
    for (int i = 0; i < 100; i++) {
      String key = "key " + i;
      assertEquals(here.segmentOf(key), there.segmentOf(key));
      used.add(here.segmentOf(key));
    }
    assertEquals(SEGMENTS, used.size());
    SegmentLease held = here.acquireFor("shoe", NO_WAIT).orElseThrow();
    assertEquals(here.segmentOf("shoe"), held.index());
    assertTrue(there.acquireFor("shoe", NO_WAIT).isEmpty());
    held.close();
  }

  @Test
  void allSegmentsOrNone() throws Exception {
    SegmentLease one = here.tryAcquireAny().orElseThrow();
    assertTrue(there.acquireAll(NO_WAIT).isEmpty());
    one.close();

    Lease all = there.acquireAll(HOUR).orElseThrow();
    assertTrue(here.tryAcquireAny().isEmpty());
    AsyncCall<Optional<SegmentLease>> first = waiter(here);
    AsyncCall<Optional<SegmentLease>> second = waiter(here);
    all.close();
    SegmentLease a = first.get().orElseThrow();
    SegmentLease b = second.get().orElseThrow();
    assertTrue(a.index() != b.index());
    a.close();
    b.close();
  }

  @Test
  void exhaustedSegmentsAreLeftOut() throws Exception {
    assertFalse(here.exhausted(0));
    assertFalse(here.exhausted(2));
    assertEquals(List.of(0, 2), there.exhaustedSegments());
    SegmentLease last = there.acquireAny(NO_WAIT).orElseThrow();
    assertEquals(1, last.index());
    assertTrue(here.acquireAny(NO_WAIT).isEmpty());
    here.acquire(2, NO_WAIT).orElseThrow().close();

    AsyncCall<Optional<SegmentLease>> waiter = waiter(here);
    assertTrue(there.exhausted(1));
    assertTrue(waiter.get().isEmpty(), "told at once");
    assertTrue(here.acquireAny(HOUR).isEmpty());
    assertEquals(0, here.queueLength());

    last.close();
    here.reset(2);
    assertEquals(2, here.tryAcquireAny().orElseThrow().index());
    here.resetAll();
    assertEquals(List.of(), here.exhaustedSegments());
    here.segment(2).forceUnlock();
  }

  @Test
  void aResetWakesAWaiter() throws Exception {
    here.exhausted(0);
    here.exhausted(1);
    SegmentLease held = here.tryAcquireAny().orElseThrow();
    AsyncCall<Optional<SegmentLease>> waiter = waiter(there);

    here.reset(1);

    SegmentLease its = waiter.get().orElseThrow();
    assertEquals(1, its.index());
    its.close();
    held.close();
  }

  @Test
  void aForcedReleaseLetsAWaiterInAndIsReported() throws Exception {
    SegmentedLock one = new SegmentedLock(clients.here(), Names.fresh(), 1);
    SegmentedLock other = new SegmentedLock(clients.there(), one.name(), 1);
    SegmentLease held = one.tryAcquireAny().orElseThrow();
    AsyncCall<Optional<SegmentLease>> waiter = AsyncCall.start(() -> other.acquireAny(HOUR));
    Eventually.until("it is in the queue", () -> one.queueLength() == 1);

    assertTrue(other.segment(0).forceUnlock());

    SegmentLease its = waiter.get().orElseThrow();
    assertThrows(LeaseLostException.class, held::close);
    assertTrue(its.isValid());
    its.close();
  }

  @Test
  void aMinimumKeepsTheSegmentBusy() throws Exception {
    SegmentedLock one = new SegmentedLock(clients.here(), Names.fresh(), 1);
    DistributedLock least = one.segment(0).atLeast(Duration.ofSeconds(2));
    least.lock();
    least.unlock();
    assertTrue(one.tryAcquireAny().isEmpty());
    one.acquireAny(Duration.ofSeconds(20)).orElseThrow().close();
  }

  @Test
  void itIsRenewedUnlessALeaseWasGiven() throws Exception {
    Duration lease = Duration.ofSeconds(2); // longer than an answer takes
    List<SegmentLease> given =
        List.of(
            here.acquire(0, NO_WAIT, lease).orElseThrow(),
            here.acquireAny(NO_WAIT, lease).orElseThrow(),
            here.acquireAnyAsync(NO_WAIT, lease).toCompletableFuture().get().orElseThrow(),
            here.acquireFor(name, HOUR, lease).orElseThrow()); // once one of them has run out
    for (SegmentLease each : given) {
      Eventually.until("it has run out", () -> !each.isValid());
      assertThrows(LeaseLostException.class, each::close);
    }

    SegmentLease renewed = here.acquireAnyAsync(HOUR).toCompletableFuture().get().orElseThrow();
    assertTrue(renewed.isValid());
    renewed.close();
  }

  @Test
  void aCancelledStageEndsTheWait() throws Exception {
    List<SegmentLease> held = acquireAllSingly(here);
    CompletableFuture<Optional<SegmentLease>> waiter =
        there.acquireAnyAsync(HOUR).toCompletableFuture();
    Eventually.until("it is in the queue", () -> here.queueLength() == 1);

    waiter.cancel(true);

    Eventually.until("it has left the queue", () -> here.queueLength() == 0);
    held.forEach(SegmentLease::close);
    acquireAllSingly(here).forEach(SegmentLease::close);
  }

  @Test
  void whatAStageIsGrantedThatHasTimedOutIsReleased() throws Exception {
    for (int i = 0; i < 200; i++) {
      CompletableFuture<Optional<SegmentLease>> stage =
          there.acquireAnyAsync(HOUR).toCompletableFuture();
      if (!stage.completeExceptionally(new TimeoutException())) {
        stage.join().orElseThrow().close();
      }
    }
    Eventually.until(
        "no segment is held",
        () -> IntStream.range(0, SEGMENTS).noneMatch(i -> here.segment(i).isLocked()));
  }

  @Test
  void aNamespaceIsPartOfAllNames() {
    LockOptions options = LockOptions.builder().namespace("billing:").build();
    try (LockClient client = clients.client(options)) {
      SegmentedLock lock = new SegmentedLock(client, name, SEGMENTS);
      assertEquals("billing:" + name, lock.name());
      assertEquals("{billing:" + name + "}:2", lock.segment(2).name());
      try (SegmentLease lease = lock.tryAcquireAny().orElseThrow()) {
        assertEquals(lock.segment(lease.index()).name(), lease.lockName());
        assertTrue(lock.segment(lease.index()).isLocked());
        assertFalse(here.segment(lease.index()).isLocked());
      }
    }
  }

  @Test
  void badArgumentsAreRefusedBeforeAnythingIsSent() {
    assertThrows(IllegalArgumentException.class, () -> new SegmentedLock(clients.here(), name, 0));
    assertThrows(
        IllegalArgumentException.class, () -> new SegmentedLock(clients.here(), name, 257));
    assertThrows(IllegalArgumentException.class, () -> new SegmentedLock(clients.here(), " ", 1));
    assertThrows(IndexOutOfBoundsException.class, () -> here.segment(3));
    assertThrows(IndexOutOfBoundsException.class, () -> here.exhausted(-1));
  }

  @Test
  void twoOfOneClientNameAndNumberAreEqual() {
    SegmentedLock same = new SegmentedLock(clients.here(), name, SEGMENTS);

    assertEquals(here, same);
    assertEquals(here.hashCode(), same.hashCode());
    assertNotEquals(here, there);
    assertNotEquals(here, new SegmentedLock(clients.here(), name, SEGMENTS + 1));
    assertNotEquals(here, new SegmentedLock(clients.here(), name + "2", SEGMENTS));
  }
}
