package io.mortise.connection.pubsub;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.FakeTicker;
import io.mortise.connection.testing.RespServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;

/** The pauses between the sessions of a subscriber. */
@Timeout(60)
class SubscriberBackoffTest {
  private static final long ANSWER_NANOS = 1_000_000_000;
  private static final Duration LONG = Duration.ofMillis(600);

  private final WakeupChannel allowed = new WakeupChannel("allowed", true, 0);
  private final WakeupChannel denied = new WakeupChannel("denied", true, 0);
  private final ReentrantLock lock = new ReentrantLock();
  private final WorkerPool workers = new WorkerPool("test");
  private final FakeTicker ticker = new FakeTicker();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final AtomicInteger connects = new AtomicInteger();
  private volatile String refusal = RespServer.error("NOPERM denied");

  /**
   * Confirms the first channel of a command, and refuses the other one while there is a refusal.
   */
  private final RespServer server =
      new RespServer(
          command ->
              refusal.isEmpty()
                  ? RespServer.subscribed(command)
                  : RespServer.subscribed(command.subList(0, 2)) + refusal);

  private final NodeSubscriber.Callbacks callbacks =
      new NodeSubscriber.Callbacks() {
        @Override
        public void onConnectionLost(boolean connection) {}

        @Override
        public boolean isClosed() {
          return closed.get();
        }

        @Override
        public void onEnd(NodeSubscriber subscriber) {}
      };

  private final NodeSubscriber subscriber =
      new NodeSubscriber(
          this::connect, lock, callbacks, workers, ticker, ANSWER_NANOS, Math::random);

  private Connection connect(Deadline deadline) {
    connects.incrementAndGet();
    return new Connection(HostAndPort.from(server.address()));
  }

  @AfterEach
  void close() {
    closed.set(true);
    locked(subscriber::reconnect);
    workers.close();
    server.close();
  }

  private void locked(Runnable action) {
    lock.lock();
    try {
      action.run();
    } finally {
      lock.unlock();
    }
  }

  private static void until(Callable<Boolean> condition) {
    await().atMost(BackgroundCall.LIVENESS).pollInterval(Duration.ofMillis(2)).until(condition);
  }

  /** The pauses before are at least 10, 20, 40, 80, 160 and 320 ms. */
  private void backOff() {
    locked(() -> subscriber.add(List.of(allowed, denied)));
    until(() -> connects.get() == 7);
  }

  /** Each session confirms a channel, and breaks at once. */
  @Test
  void aSessionThatBreaksSoonIsNoRecovery() {
    long begin = System.nanoTime();

    backOff();

    Duration taken = Duration.ofNanos(System.nanoTime() - begin);
    assertTrue(taken.compareTo(LONG) > 0, "seven sessions within " + taken);
  }

  /** Otherwise each of the pauses is at least 500 ms. */
  @Test
  void afterASessionThatHasLastedTheNextOneBeginsSoon() throws Exception {
    backOff();
    refusal = "";
    until(() -> denied.confirmed);
    Duration paused = Duration.ZERO;
    for (int i = 0; i < 5; i++) {
      ticker.advance(Duration.ofSeconds(1).toNanos());
      int before = connects.get();
      long begin = System.nanoTime();
      server.restart();
      until(() -> connects.get() > before);
      paused = paused.plusNanos(System.nanoTime() - begin);
      until(() -> denied.confirmed);
    }
    assertTrue(paused.toMillis() < 2_500, "five pauses of " + paused + " together");
  }

  /** Otherwise each of the pauses is at least 500 ms. */
  @Test
  void afterChannelsHaveMovedToAnotherNodeTheNextSessionBeginsSoon() {
    backOff();
    refusal = RespServer.error("MOVED 5 127.0.0.1:1");
    until(() -> connects.get() == 8); // its pause has begun before
    long begin = System.nanoTime();
    until(() -> connects.get() == 13);

    Duration taken = Duration.ofNanos(System.nanoTime() - begin);
    assertTrue(taken.toMillis() < 2_500, "five sessions within " + taken);
  }
}
