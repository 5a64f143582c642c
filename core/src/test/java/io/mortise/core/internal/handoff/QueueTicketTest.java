package io.mortise.core.internal.handoff;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Ticker;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.engine.FakeProtocol;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.engine.TestClients;
import io.mortise.core.internal.lease.FragileTicker;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.LockId;
import io.mortise.core.internal.lease.TestContext;
import io.mortise.core.internal.lease.TransferableHold;
import io.mortise.core.internal.lease.TransferableHold.TokenReserve;
import io.mortise.core.spi.LockProtocol;
import io.mortise.scripts.Script;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A ticket that is given back leaves no hold in the queue: the last one to leave releases it. */
@Timeout(60)
class QueueTicketTest {
  private static final String RELEASE = new String(Script.load("lock/release").sha1(), UTF_8);

  private final FragileTicker ofReleases = new FragileTicker(Ticker.systemTicker());
  private volatile String answer = RespServer.integers(List.of(1L, 0L));
  private final RespServer server = new RespServer(command -> answer);
  private final RedisLockClient client = TestClients.of(server, LockOptions.defaults());
  private final LockProtocol protocol = new FakeProtocol("orders");
  private final LocalQueues queues = new LocalQueues(System::nanoTime);
  private final LocalQueue queue = queues.join(LockId.of(protocol));
  private final QueueTicket ticket = ticket();

  private QueueTicket ticket() {
    LeaseContext context =
        new TestContext(client.context().lease()).tickerOfReleases(ofReleases).build();
    return new QueueTicket(context.ticker(), context.releases(), queues, protocol);
  }

  @BeforeEach
  void anotherHasThePermit() {
    assertTrue(queue.enterIfFree());
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private void handOff(String holder) {
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    queue.offerHold(
        new TransferableHold(
            holder, end, end, 60_000, 42, new TokenReserve(50, System.nanoTime(), 1), 0));
    queue.release();
  }

  private void awaitReleased(String holder) {
    await()
        .atMost(BackgroundCall.LIVENESS)
        .until(
            () ->
                server.heard().stream()
                    .anyMatch(
                        command -> command.get(1).equals(RELEASE) && command.contains(holder)));
  }

  /** Its thread was in the queue when the other looked for one, and has just given up. */
  @Test
  void aHoldThatWasOfferedToTheOneThatLeavesIsReleased() {
    assertFalse(ticket.tryEnter());
    handOff("h1");

    ticket.release();

    awaitReleased("h1");
    assertTrue(queue.enterIfFree(), "the permit is free");
  }

  /** The acquisition calls it again, on a worker. */
  @Test
  void aHoldIsReleasedByTheSecondCallWhenAnErrorHasEndedTheFirst() {
    assertFalse(ticket.tryEnter());
    handOff("h1");
    ofReleases.fillHeapOnce();
    assertThrows(OutOfMemoryError.class, ticket::release);

    ticket.release();

    awaitReleased("h1");
    assertTrue(queue.enterIfFree(), "the permit is free");
  }

  @Test
  void aHoldThatWasOfferedAndNotUsedIsReleasedAfterAnError() {
    handOff("h2");
    assertTrue(ticket.tryEnter());
    answer = "-ERR on purpose\r\n";
    ofReleases.fillHeapOnce();
    assertThrows(OutOfMemoryError.class, () -> ticket.releaseOfferedHold(10_000_000_000L));
    int before = server.heard().size();

    ticket.release();

    await().atMost(BackgroundCall.LIVENESS).until(() -> server.heard().size() > before);
    awaitReleased("h2");
    assertTrue(queue.enterIfFree(), "the permit is free");
  }

  @Test
  void aHoldThatWasTakenAndNotUsedIsReleased() {
    handOff("h2");
    assertTrue(ticket.tryEnter());

    ticket.release();

    awaitReleased("h2");
    assertTrue(queue.enterIfFree(), "the permit is free");
  }

  @Test
  void aHoldThatWasTakenAndNotUsedStaysForTheNextInTheQueue() throws Exception {
    QueueTicket next = ticket();
    handOff("h3");
    assertTrue(ticket.tryEnter());
    BackgroundCall<Boolean> waiting =
        BackgroundCall.startAndPark(() -> next.enter(Long.MAX_VALUE, true, hold -> true));

    ticket.release();

    assertTrue(waiting.get());
    TransferableHold hold = next.offeredHold();
    assertEquals("h3", hold == null ? "none" : hold.holder());
    assertEquals(List.of(), server.heard());
  }
}
