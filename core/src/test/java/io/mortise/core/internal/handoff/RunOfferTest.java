package io.mortise.core.internal.handoff;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.concurrent.Signal;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.acquire.AcquireContext;
import io.mortise.core.internal.engine.FakeProtocol;
import io.mortise.core.internal.engine.FakeRunProtocol;
import io.mortise.core.internal.engine.RedisLeaseSource;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.engine.TestClients;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.RedisHold;
import io.mortise.core.internal.lease.TransferableHold;
import io.mortise.core.internal.lease.TransferableHold.TokenReserve;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.scripts.Script;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A hold that is passed to the next waiter of its run: it is taken, or released. */
@Timeout(60)
class RunOfferTest {
  private static final String FIRST = "client:1";
  private static final String NEXT = "client:2";
  private static final long TOKEN = 42;
  private static final String RELEASE = new String(Script.load("lock/release").sha1(), UTF_8);

  private final RespServer server = new RespServer(command -> RespServer.integers(List.of(1L, 0L)));
  private final RedisLockClient client = TestClients.of(server, LockOptions.defaults());
  private final AcquireContext acquisitions = client.context();
  private final LeaseContext leases = acquisitions.lease();
  private final FakeRunProtocol protocol =
      new FakeRunProtocol(new FakeProtocol("orders"), List.of(NEXT), 0);

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  /** The side of the acquisition that waits under the id {@link #NEXT}. */
  private LocalHandOff waiter(Duration lease) {
    LeaseTerms terms = LeaseTerms.of(client.options(), Duration.ofMinutes(1), lease, true);
    LocalHandOff handOff =
        new LocalHandOff(
            leases,
            acquisitions.sharedHolds(),
            acquisitions.runWaiters(),
            RedisLeaseSource.of(client, protocol),
            protocol,
            terms,
            null,
            new QueueTicket(leases.ticker(), leases.releases(), acquisitions.queues(), protocol));
    handOff.runs().join(NEXT);
    return handOff;
  }

  private TransferableHold hold() {
    long lease = client.options().lease().toMillis();
    long now = leases.nanos();
    return new TransferableHold(
        FIRST,
        now + lease * 1_000_000,
        now + lease * 300_000,
        lease,
        TOKEN,
        new TokenReserve(TOKEN + 1, now, 0),
        leases.holds().epoch());
  }

  private RunSlot slot() {
    return new RunSlot(acquisitions.runWaiters(), protocol, client.options().lease().toMillis());
  }

  private void awaitReleaseOfFirst() {
    await()
        .atMost(BackgroundCall.LIVENESS)
        .until(
            () ->
                server.heard().stream()
                    .anyMatch(words -> words.get(1).equals(RELEASE) && words.contains(FIRST)));
  }

  @Test
  void theNextWaiterTakesItUnderItsHolderIdWithTheNextToken() {
    LocalHandOff next = waiter(null);
    assertTrue(slot().hasWaiters());
    assertNull(slot().handOff(hold(), () -> {}));

    RedisHold taken = next.takeOffered(0);

    assertNotNull(taken);
    assertEquals(FIRST, taken.holder());
    assertEquals(TOKEN + 1, taken.fencingToken());
    assertEquals(0, acquisitions.runWaiters().size());
    taken.drop();
  }

  /** The error comes between the offer and the signal; the waiter would wait for a whole lease. */
  @Test
  void aWaiterIsWokenWhenAHandOffIsCompletedAfterAnError() {
    LocalHandOff next = waiter(null);
    RunSlot slot = slot();
    assertNull(slot.handOff(hold(), () -> {}));
    Signal signal = new Signal();
    assertTrue(next.runs().awaitsOffer(signal)); // as if the offer had not seen this one
    long seen = signal.generation();

    assertNull(slot.completeHandOff());

    assertNotEquals(seen, signal.generation());
    next.runs().leave();
  }

  @Test
  void oneThatHasLeftGetsNothing() {
    waiter(null).runs().leave();

    assertFalse(slot().hasWaiters());
    TransferableHold hold = hold();
    assertEquals(hold, slot().handOff(hold, () -> {}));
  }

  @Test
  void oneWithALeaseOfItsOwnGetsNothing() {
    LocalHandOff next = waiter(Duration.ofSeconds(3));

    assertFalse(slot().hasWaiters());
    TransferableHold hold = hold();
    assertEquals(hold, slot().handOff(hold, () -> {}));
    next.runs().leave();
  }

  @Test
  void oneThatLeavesWithAnOfferHasTheHoldReleased() {
    LocalHandOff next = waiter(null);
    assertNull(slot().handOff(hold(), () -> {}));

    next.runs().leave();

    awaitReleaseOfFirst();
    assertEquals(0, acquisitions.runWaiters().size());
  }

  /** It may have been forced out since it was passed on; the waiter keeps its place. */
  @Test
  void aHoldOfAnEarlierEpochIsReleasedAndTheWaiterWaitsOn() {
    LocalHandOff next = waiter(null);
    assertNull(slot().handOff(hold(), () -> {}));
    leases.holds().endEpoch();

    assertNull(next.takeOffered(0));

    awaitReleaseOfFirst();
    assertTrue(slot().hasWaiters());
    assertNull(slot().handOff(hold(), () -> {}));
    RedisHold taken = next.takeOffered(0);
    assertNotNull(taken);
    taken.drop();
  }
}
