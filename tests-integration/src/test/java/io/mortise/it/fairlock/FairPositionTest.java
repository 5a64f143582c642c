package io.mortise.it.fairlock;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.LeaseBackedLock;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.ProtocolLeaseSource;
import io.mortise.core.spi.WaiterQueue;
import io.mortise.core.spi.WaiterTimeout;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.TwoClients;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The position in a long queue, of a client that has many waiters. */
@Timeout(60)
class FairPositionTest {
  private static final int AHEAD = 1_250;
  private static final int OURS = 250;

  /** Their queries would take ten minutes, if each waited for its time-out. */
  private static final int MANY = 400_000;

  /** No wait ends during the test. */
  private static final Duration LONG = Duration.ofMinutes(5);

  private static final String STRANGER = "6b1f2a34-0d5c-8e7f-9a8b-c0d1e2f3a4b5:";

  /** No waiter loses its place during the test, although a slow machine sends heartbeats late. */
  private static final Duration WAITER_TIMEOUT = Duration.ofHours(1);

  /**
   * Before the deadlines of our waiters. If the strangers' were later, each attempt of ours would
   * read the whole queue: on a slow machine more work than the server does before the attempts are
   * repeated.
   */
  private static final Duration STRANGERS_STAY = Duration.ofMinutes(30);

  /** Moves a waiter to the head or to the tail, in one step. */
  private static final String MOVE =
      "redis.call('LREM', KEYS[1], 1, ARGV[1]) return redis.call(ARGV[2], KEYS[1], ARGV[1])";

  @RegisterExtension static final TwoClients clients = new TwoClients();

  @RegisterExtension final ServedOrder order = new ServedOrder(clients, WAITER_TIMEOUT);

  private final RedisFairLock lock = order.here();

  /** Waiters of another process, as the wire format has them. */
  private void appendStrangers() {
    List<String> places = new ArrayList<>(List.of("RPUSH", order.list));
    List<String> deadlines = new ArrayList<>(List.of("ZADD", order.deadlines));
    String deadline = Long.toString(order.now() + STRANGERS_STAY.toMillis());
    for (int i = 0; i < AHEAD; i++) {
      places.add(STRANGER + i);
      deadlines.addAll(List.of(deadline, STRANGER + i));
    }
    order.server().command(places.toArray(String[]::new));
    order.server().command(deadlines.toArray(String[]::new));
  }

  private void move(String holder, String push) {
    order.server().command("EVAL", MOVE, "1", order.list, holder, push);
  }

  /** The first answer; on a busy machine a question may come too late behind so many attempts. */
  private static <T> T answer(Callable<T> question) {
    return await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(2))
        .pollInSameThread()
        .atMost(Eventually.LIVENESS)
        .ignoreException(LockException.class)
        .until(question, answered -> true);
  }

  @Test
  void itIsThatOfTheFirstOfAllWaitersOfTheClientWhereverThatIs() {
    order.there().lock();
    appendStrangers();
    List<CompletableFuture<Optional<Lease>>> ours = new ArrayList<>();
    for (int i = 0; i < OURS; i++) {
      ours.add(lock.acquireAsync(LONG).toCompletableFuture());
    }
    order.awaitLength(AHEAD + OURS);

    assertEquals(AHEAD + OURS, answer(lock::queueLength));
    List<String> holders = order.holders().subList(AHEAD, AHEAD + OURS);
    for (String holder : holders) { // whichever query names it
      move(holder, "LPUSH");
      await("its client knows that it waits")
          .pollDelay(Duration.ZERO)
          .pollInterval(Duration.ofMillis(2))
          .atMost(Eventually.LIVENESS)
          .until(() -> answer(lock::queuePosition).equals(OptionalLong.of(0)));
      move(holder, "RPUSH");
    }
    assertEquals(OptionalLong.of(AHEAD), answer(lock::queuePosition));

    ours.forEach(each -> each.cancel(true));
    order.awaitLength(AHEAD);
    assertEquals(OptionalLong.empty(), answer(lock::queuePosition));
    order.server().command("DEL", order.list, order.deadlines);
    order.there().unlock();
  }

  /** The first query without an answer ends the question, however many would follow. */
  @Test
  void aSuspendedServerEndsTheQuestionWithTheCommandTimeout() {
    LockOptions options = LockOptions.builder().commandTimeout(Duration.ofMillis(300)).build();
    try (RedisServer server = RedisServer.start();
        LockClient client = LockClient.create(server.uri(), options)) {
      RedisFairLock suspended = new RedisFairLock(client, order.name);
      ProtocolLeaseSource source = (ProtocolLeaseSource) LeaseBackedLock.sourceOf(suspended);
      WaiterQueue queue =
          new WaiterQueue(new LockName(order.name), new WaiterTimeout(WaiterTimeout.DEFAULT));
      List<String> many = Collections.nCopies(MANY, STRANGER + "1");
      assertEquals(0, suspended.queueLength());
      server.pause();
      try {
        LockException thrown =
            assertTimeoutPreemptively(
                Duration.ofSeconds(20),
                () ->
                    assertThrows(
                        LockException.class, () -> queue.positionOfFirst(many, source::query)));
        assertEquals(Reason.UNREACHABLE, thrown.reason());
      } finally {
        server.resume();
      }
      assertEquals(0, suspended.queueLength());
    }
  }
}
