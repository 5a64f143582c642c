package io.mortise.connection.pubsub;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.FakeTicker;
import io.mortise.connection.testing.RespServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;

/**
 * The pauses for which a subscriber asks between its sessions. Each ends when the test says so, and
 * is the shortest that the jitter allows.
 */
@Timeout(60)
class SubscriberBackoffTest {
  private static final long ANSWER_NANOS = 1_000_000_000;

  private final WakeupChannel allowed = new WakeupChannel("allowed", true, 0);
  private final WakeupChannel denied = new WakeupChannel("denied", true, 0);
  private final ReentrantLock lock = new ReentrantLock();
  private final WorkerPool workers = new WorkerPool("test");
  private final FakeTicker ticker = new FakeTicker();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final BlockingQueue<Long> pausesNanos = new LinkedBlockingQueue<>();
  private final Semaphore ended = new Semaphore(0);
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
        public void onUnheard() {}

        @Override
        public boolean isClosed() {
          return closed.get();
        }

        @Override
        public void onEnd(NodeSubscriber subscriber) {}
      };

  private final NodeSubscriber subscriber =
      new NodeSubscriber(
          this::connect, lock, callbacks, workers, ticker, ANSWER_NANOS, () -> 0, this::park);

  private Connection connect(Deadline deadline) {
    return new Connection(HostAndPort.from(server.address()));
  }

  @AfterEach
  void close() {
    closed.set(true);
    ended.release();
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

  private void park(long nanos) {
    pausesNanos.add(nanos);
    ended.acquireUninterruptibly();
  }

  /** Waits until a session has ended; returns the pause behind it, which goes on. */
  private long nextPauseMillis() throws InterruptedException {
    Long nanos = pausesNanos.poll(BackgroundCall.LIVENESS.toSeconds(), TimeUnit.SECONDS);
    assertNotNull(nanos, "the session goes on");
    return TimeUnit.NANOSECONDS.toMillis(nanos);
  }

  /** Lets so many sessions end, and all pauses but the last one. */
  private List<Long> pausesMillis(int sessions) throws InterruptedException {
    locked(() -> subscriber.add(List.of(allowed, denied)));
    List<Long> pauses = new ArrayList<>(List.of(nextPauseMillis()));
    while (pauses.size() < sessions) {
      ended.release();
      pauses.add(nextPauseMillis());
    }
    return pauses;
  }

  /** Each session confirms a channel, and breaks at once. */
  @Test
  void aSessionThatBreaksSoonIsNoRecovery() throws Exception {
    assertEquals(List.of(10L, 20L, 40L, 80L, 160L, 320L, 500L, 500L), pausesMillis(8));
  }

  @Test
  void afterASessionThatHasLastedTheNextOneBeginsSoon() throws Exception {
    assertEquals(500, pausesMillis(7).get(6));
    refusal = "";
    for (int i = 0; i < 5; i++) {
      ended.release();
      until(() -> denied.confirmed);
      ticker.advance(Duration.ofSeconds(1).toNanos());
      server.restart();
      assertEquals(10, nextPauseMillis());
    }
  }

  @Test
  void afterChannelsHaveMovedToAnotherNodeTheNextSessionBeginsSoon() throws Exception {
    assertEquals(500, pausesMillis(7).get(6));
    refusal = RespServer.error("MOVED 5 127.0.0.1:1");
    for (int i = 0; i < 5; i++) {
      ended.release();
      assertEquals(100, nextPauseMillis());
    }
  }
}
