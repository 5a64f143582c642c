package io.mortise.connection.pubsub;

import static java.lang.Thread.currentThread;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Ticker;
import com.google.common.util.concurrent.Uninterruptibles;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.ErrorClassifier;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import java.net.ConnectException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.DefaultJedisSocketFactory;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

/** The connection that hears channels, and what it survives. */
@Timeout(60)
class NodeSubscriberTest {
  /** The first answer of a connection takes less, on a busy machine too. */
  private static final Duration ANSWER = BackgroundCall.LIVENESS;

  /** More than all socket buffers together take. */
  private static final int MANY = 20_000;

  private static final String LONG_NAME = "x".repeat(1_000);

  private final ReentrantLock lock = new ReentrantLock();
  private final WorkerPool workers = new WorkerPool("test");
  private final CountDownLatch reads = new CountDownLatch(1);
  private final AtomicInteger answers = new AtomicInteger();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final AtomicInteger errors = new AtomicInteger();
  private volatile String refused = "";

  /** The sessions that ended, each with whether its connection broke. */
  private final List<Boolean> ends = new CopyOnWriteArrayList<>();

  private final CountDownLatch ended = new CountDownLatch(1);

  private final RespServer server = new RespServer(this::answer);

  private final NodeSubscriber.Callbacks callbacks =
      new NodeSubscriber.Callbacks() {
        @Override
        public void onConnectionLost(boolean connection) {
          maybeThrow();
          ends.add(connection);
        }

        @Override
        public void onUnheard() {}

        @Override
        public boolean isClosed() {
          return closed.get();
        }

        @Override
        public void onEnd(NodeSubscriber subscriber) {
          ended.countDown();
        }
      };

  private final NodeSubscriber subscriber =
      new NodeSubscriber(
          this::connect,
          lock,
          callbacks,
          workers,
          Ticker.systemTicker(),
          ANSWER.toNanos(),
          Math::random,
          LockSupport::parkNanos);

  private final AtomicInteger connects = new AtomicInteger();
  private volatile Runnable whileConnecting = () -> {};
  private volatile @Nullable CommandException noConnection;
  private volatile Runnable whenRefused = () -> {};

  private Connection connect(Deadline deadline) throws CommandException {
    maybeThrow();
    CommandException fault = noConnection;
    if (fault != null) {
      whenRefused.run();
      throw fault;
    }
    connects.incrementAndGet();
    whileConnecting.run();
    return new Connection(
        new DefaultJedisSocketFactory(
            HostAndPort.from(server.address()),
            DefaultJedisClientConfig.builder().timeoutMillis((int) ANSWER.toMillis()).build()));
  }

  private void maybeThrow() {
    if (errors.getAndDecrement() > 0) {
      throw new NoClassDefFoundError("on purpose");
    }
  }

  /** From the second command on the server reads nothing until it is told to. */
  private String answer(List<String> command) {
    if (answers.incrementAndGet() > 1) {
      try {
        reads.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
    return command.contains(refused)
        ? RespServer.error("NOPERM this user has no permissions to access one of the channels")
        : RespServer.subscribed(command);
  }

  @AfterEach
  void close() {
    reads.countDown();
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

  private WakeupChannel subscribed(String name) {
    WakeupChannel channel = new WakeupChannel(name, true, 0);
    locked(() -> subscriber.add(List.of(channel)));
    await().atMost(BackgroundCall.LIVENESS).until(() -> channel.confirmed);
    return channel;
  }

  private static List<WakeupChannel> many() {
    return IntStream.range(0, MANY)
        .mapToObj(i -> new WakeupChannel(i + LONG_NAME, true, 0))
        .toList();
  }

  private static boolean areConfirmed(List<WakeupChannel> channels) {
    return channels.stream().allMatch(channel -> channel.confirmed);
  }

  /**
   * A user may have the right to some channels only; the server lives, and so do the holds there.
   */
  @Test
  void aRefusedChannelIsNoBrokenConnection() {
    reads.countDown();
    refused = "not mine";
    locked(() -> subscriber.add(List.of(new WakeupChannel(refused, true, 0))));
    await().atMost(BackgroundCall.LIVENESS).until(() -> ends.size() >= 2);
    assertFalse(ends.contains(true), ends::toString);

    refused = "";
    server.close();
    await().atMost(BackgroundCall.LIVENESS).until(() -> ends.contains(true));
  }

  /** A server that takes no more clients goes on with those that it has, and with their holds. */
  @Test
  void aRefusedConnectionIsNoBrokenOne() {
    reads.countDown();
    noConnection =
        ErrorClassifier.ofConnecting(
            new JedisDataException("ERR max number of clients reached"), server.address());
    WakeupChannel channel = new WakeupChannel("first", true, 0);
    locked(() -> subscriber.add(List.of(channel)));
    await().atMost(BackgroundCall.LIVENESS).until(() -> ends.size() >= 2);
    assertFalse(ends.contains(true), ends::toString);

    noConnection =
        ErrorClassifier.ofConnecting(
            new JedisConnectionException(new ConnectException("refused")), server.address());
    await().atMost(BackgroundCall.LIVENESS).until(() -> ends.contains(true));
    noConnection = null;
    await().atMost(BackgroundCall.LIVENESS).until(() -> channel.confirmed);
  }

  /** As by somebody who interrupts all threads of a group, or all that look left over. */
  @Test
  void anInterruptFromOutsideIsForgottenBeforeTheNextSession() {
    reads.countDown();
    List<Boolean> interrupted = new CopyOnWriteArrayList<>();
    whileConnecting = () -> interrupted.add(currentThread().isInterrupted());
    noConnection =
        ErrorClassifier.ofConnecting(
            new JedisConnectionException(new ConnectException("refused")), server.address());
    whenRefused = () -> currentThread().interrupt();
    locked(() -> subscriber.add(List.of(new WakeupChannel("first", true, 0))));
    await().atMost(BackgroundCall.LIVENESS).until(() -> ends.size() >= 2);

    whenRefused = () -> {};
    noConnection = null;

    await().atMost(BackgroundCall.LIVENESS).until(() -> !interrupted.isEmpty());
    assertEquals(List.of(false), interrupted);
  }

  @Test
  void whoSubscribesIsNotHeldUpByAServerThatReadsNothing() throws Exception {
    subscribed("first");
    List<WakeupChannel> many = many();

    BackgroundCall<Boolean> adding =
        BackgroundCall.start(
            () -> {
              many.forEach(channel -> locked(() -> subscriber.add(List.of(channel))));
              return true;
            });

    assertTrue(adding.get());
    reads.countDown();
    await().atMost(Duration.ofSeconds(40)).until(() -> areConfirmed(many));
  }

  @Test
  void whoLeavesIsNotHeldUpByAServerThatReadsNothing() throws Exception {
    answers.set(-MANY);
    subscribed("first");
    List<WakeupChannel> many = many();
    locked(() -> subscriber.add(many));
    await().atMost(Duration.ofSeconds(40)).until(() -> areConfirmed(many));
    answers.set(1);
    locked(() -> subscriber.add(List.of(new WakeupChannel("last", true, 0))));
    await().atMost(BackgroundCall.LIVENESS).until(() -> answers.get() == 2); // now it reads nothing

    BackgroundCall<Boolean> leaving =
        BackgroundCall.start(
            () -> {
              locked(() -> subscriber.remove(many));
              return true;
            });

    assertTrue(leaving.get());
    reads.countDown();
    await()
        .atMost(Duration.ofSeconds(40))
        .until(() -> left().containsAll(many.stream().map(channel -> channel.name).toList()));
  }

  /** The last of them may exceed the room. */
  @Test
  void atFirstNoMoreIsWrittenThanTheSocketsTakeWhateverTheCharacters() {
    String threeBytesEach = "\u540d".repeat(1_000);
    List<WakeupChannel> channels =
        IntStream.range(0, 100)
            .mapToObj(i -> new WakeupChannel(i + threeBytesEach, true, 0))
            .toList();
    reads.countDown();

    locked(() -> subscriber.add(channels));

    await().atMost(BackgroundCall.LIVENESS).until(() -> areConfirmed(channels));
    int bytes = String.join("", server.heard().get(0)).getBytes(UTF_8).length;
    assertTrue(bytes <= SubscriberSession.MAX_PENDING_BYTES + 3_100, () -> bytes + " bytes");
  }

  private List<String> left() {
    List<String> names = new ArrayList<>();
    server.heard().stream()
        .filter(command -> command.get(0).equals("UNSUBSCRIBE"))
        .forEach(names::addAll);
    return names;
  }

  @Test
  void onlyTheServerConfirmsAChannel() {
    subscribed("first");
    WakeupChannel second = new WakeupChannel("second", true, 0);
    locked(() -> subscriber.add(List.of(second)));
    await().atMost(BackgroundCall.LIVENESS).until(() -> second.requested);

    assertFalse(second.confirmed);

    reads.countDown();
    await().atMost(BackgroundCall.LIVENESS).until(() -> second.confirmed);
  }

  @Test
  void aRemovedChannelIsNotConfirmed() {
    answers.set(-MANY);
    subscribed("stays");
    WakeupChannel removed = subscribed("removed");

    locked(() -> subscriber.remove(List.of(removed)));

    assertFalse(removed.confirmed, "no message arrives any more");
  }

  /** A channel without a name stands for one for which there is no memory. */
  @Test
  void aChannelThatAnErrorKeepsFromBeingAddedOrRemovedIsToBeRoutedAgain() {
    WakeupChannel broken = new WakeupChannel(null, true, 0);
    assertThrows(NullPointerException.class, () -> locked(() -> subscriber.add(List.of(broken))));
    assertNull(broken.subscriber);

    broken.subscriber = subscriber;
    assertThrows(
        NullPointerException.class, () -> locked(() -> subscriber.remove(List.of(broken))));
    assertNull(broken.subscriber);
  }

  /** As when an error has kept the first of them here after it was dropped. */
  @Test
  void aChannelThatTakesThePlaceOfAnotherIsRequestedOnce() {
    answers.set(-MANY);
    WakeupChannel stray = new WakeupChannel("first", true, 0);
    WakeupChannel channel = new WakeupChannel("first", true, 0);
    locked(
        () -> {
          subscriber.add(List.of(stray));
          subscriber.add(List.of(channel));
        });
    await().atMost(BackgroundCall.LIVENESS).until(() -> channel.confirmed);

    subscribed("second");

    assertEquals(
        List.of(List.of("SUBSCRIBE", "first"), List.of("SUBSCRIBE", "second")), server.heard());
  }

  @Test
  void aConnectionIsMadeAnewIfThatIsAskedForWhileItIsMade() {
    whileConnecting =
        () -> {
          whileConnecting = () -> {};
          locked(subscriber::reconnect);
        };

    subscribed("first");

    assertEquals(2, connects.get());
  }

  /** As one whose handler of an error throws another. */
  @Test
  void aThreadThatHasDiedIsReplaced() {
    answers.set(-MANY);
    AtomicInteger threads = new AtomicInteger();
    AtomicReference<Thread> dead = new AtomicReference<>();
    WorkerPool.NamedThreadFactory factory =
        (task, name) -> {
          Runnable run = threads.incrementAndGet() == 1 ? () -> dead.set(currentThread()) : task;
          return new Thread(run, name);
        };
    try (WorkerPool pool = new WorkerPool("test", factory)) {
      NodeSubscriber other =
          new NodeSubscriber(
              this::connect,
              lock,
              callbacks,
              pool,
              Ticker.systemTicker(),
              ANSWER.toNanos(),
              Math::random,
              LockSupport::parkNanos);
      WakeupChannel channel = new WakeupChannel("first", true, 0);
      locked(() -> other.add(List.of(channel)));
      await().atMost(BackgroundCall.LIVENESS).until(() -> dead.get() != null);
      Uninterruptibles.joinUninterruptibly(dead.get());

      locked(other::subscribePending);

      await().atMost(BackgroundCall.LIVENESS).until(() -> channel.confirmed);
      closed.set(true);
      locked(other::reconnect);
    }
  }

  @Test
  void errorsDoNotEndTheSubscription() throws Exception {
    answers.set(-MANY);
    errors.set(6);

    WakeupChannel channel = subscribed("first");
    long seen = channel.signal.generation();
    errors.set(3);
    server.restart();

    await().atMost(BackgroundCall.LIVENESS).until(() -> channel.signal.generation() > seen);
    await().atMost(BackgroundCall.LIVENESS).until(() -> channel.confirmed && errors.get() <= 0);
    await()
        .atMost(BackgroundCall.LIVENESS)
        .until(() -> server.connections() == 1); // the others end
  }

  /** As in a heap that is full: the line of the log needs memory, and so does the notice. */
  @Test
  void anErrorKeepsNobodyFromLearningOfABrokenConnection() throws Exception {
    answers.set(-MANY);
    whileConnecting =
        () -> {
          whileConnecting = () -> {};
          throw new UnloggableException();
        };
    WakeupChannel channel = subscribed("first");
    assertEquals(List.of(true), ends);

    errors.set(1);
    server.restart();
    await().atMost(BackgroundCall.LIVENESS).until(() -> errors.get() < 0 && channel.confirmed);
    assertEquals(List.of(true, true), ends);
  }

  @Test
  void aClosedClientIsNotToldThatItsConnectionBroke() throws Exception {
    var unused = subscribed("first");

    closed.set(true);
    locked(subscriber::reconnect);

    assertTrue(ended.await(BackgroundCall.LIVENESS.toSeconds(), TimeUnit.SECONDS));
    assertEquals(List.of(), ends);
  }

  private static final class UnloggableException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    @Override
    public String getMessage() {
      throw new NoClassDefFoundError("on purpose");
    }
  }
}
