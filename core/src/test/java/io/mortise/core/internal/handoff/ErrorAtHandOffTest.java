package io.mortise.core.internal.handoff;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Ticker;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.acquire.AcquireContext;
import io.mortise.core.internal.engine.FakeProtocol;
import io.mortise.core.internal.engine.RedisLeaseSource;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.engine.TestClients;
import io.mortise.core.internal.lease.FragileTicker;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.LockId;
import io.mortise.core.internal.lease.RedisHold;
import io.mortise.core.internal.lease.TransferableHold;
import io.mortise.core.internal.lease.TransferableHold.TokenReserve;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An error while a thread takes a hold over: the next thread gets it, or it is released. */
@Timeout(60)
class ErrorAtHandOffTest {
  private static final String HOLDER = "client:1";
  private static final long TOKEN = 42;

  private final RespServer server = new RespServer(command -> RespServer.integers(List.of(1L, 0L)));
  private final RedisLockClient client = TestClients.of(server, LockOptions.defaults());
  private final AcquireContext acquisitions = client.context();
  private final LeaseContext leases = acquisitions.lease();
  private final LockProtocol protocol = new FakeProtocol("orders");
  private final LocalQueue queue = acquisitions.queues().join(LockId.of(protocol));

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private QueueTicket ticket(Ticker ticker) {
    return new QueueTicket(ticker, leases.releases(), acquisitions.queues(), protocol);
  }

  private LocalHandOff handOff(QueueTicket ticket) {
    return new LocalHandOff(
        leases,
        acquisitions.sharedHolds(),
        acquisitions.runWaiters(),
        RedisLeaseSource.of(client, protocol),
        protocol,
        LeaseTerms.of(client.options(), Duration.ofMinutes(1), null, true),
        null,
        ticket);
  }

  private void offer() {
    long lease = client.options().lease().toMillis();
    long now = leases.nanos();
    queue.offerHold(
        new TransferableHold(
            HOLDER,
            now + lease * 1_000_000,
            now + lease * 300_000,
            lease,
            TOKEN,
            new TokenReserve(TOKEN + 1, now, 0),
            leases.holds().epoch()));
  }

  /** Otherwise the next thread would have it while it is released, and so beside another owner. */
  @Test
  void aHoldThatGoesToTheNextThreadIsNotReleased() throws Exception {
    FragileTicker fragile = new FragileTicker(Ticker.systemTicker());
    QueueTicket failing = ticket(fragile);
    offer();
    assertTrue(failing.tryEnter());
    QueueTicket next = ticket(leases.ticker());
    BackgroundCall<Boolean> waiting =
        BackgroundCall.startAndPark(() -> next.enter(Long.MAX_VALUE, true, hold -> true));
    fragile.fillHeapOnce();
    assertThrows(OutOfMemoryError.class, () -> handOff(failing).takeOffered(0));

    failing.release();

    assertTrue(waiting.get());
    RedisHold taken = handOff(next).takeOffered(0);
    assertNotNull(taken);
    assertEquals(HOLDER, taken.holder());
    assertEquals(0, client.status().pendingReleases());
    assertEquals(List.of(), server.heard());
    assertTrue(taken.isValid());
    taken.drop();
  }
}
