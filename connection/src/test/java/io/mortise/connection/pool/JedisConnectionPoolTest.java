package io.mortise.connection.pool;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ConnectionPool.PooledConnection;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.util.Pool;

/** The Jedis client of the user replaces its pool, or closes it, while locks use it. */
@Timeout(60)
class JedisConnectionPoolTest {
  private static final long LONG_NANOS = 20_000_000_000L;

  private volatile Function<List<String>, String> answers = command -> "+PONG\r\n";
  private final RespServer redis = new RespServer(command -> answers.apply(command));
  private final WorkerPool workers = new WorkerPool("test");
  private final Pool<Connection> first = poolOfOne();
  private final Pool<Connection> second = poolOfOne();
  private volatile Pool<Connection> present = first;

  /** The one that the provider gives from its second answer on. */
  private volatile Pool<Connection> next = first;

  private final JedisPoolProvider provider =
      new JedisPoolProvider() {
        @Override
        public Pool<Connection> pool() {
          Pool<Connection> given = present;
          present = next;
          return given;
        }

        @Override
        public Object server() {
          return server;
        }
      };

  private volatile String server = "A";
  private final JedisConnectionPool pool = new JedisConnectionPool(provider, workers);

  private Pool<Connection> poolOfOne() {
    ConnectionPoolConfig one = new ConnectionPoolConfig();
    one.setMaxTotal(1);
    return new redis.clients.jedis.ConnectionPool(
        HostAndPort.from(redis.address()), DefaultJedisClientConfig.builder().build(), one);
  }

  @AfterEach
  void close() {
    first.close();
    second.close();
    workers.close();
    redis.close();
  }

  private PooledConnection borrow() throws InterruptedException {
    return pool.borrow(TestSettings.after(LONG_NANOS));
  }

  /** Starts a thread that waits for the one connection of the first pool. */
  private <T> BackgroundCall<T> startWaiter(BackgroundCall.Task<T> task) throws Exception {
    borrow();
    BackgroundCall<T> waiter = BackgroundCall.start(task);
    await().atMost(BackgroundCall.LIVENESS).until(() -> first.getNumWaiters() == 1);
    return waiter;
  }

  @Test
  void aWaiterGetsAConnectionOfThePoolThatReplacesAClosedOne() throws Exception {
    BackgroundCall<Boolean> waiter =
        startWaiter(
            () -> {
              borrow();
              return Thread.currentThread().isInterrupted();
            });

    next = second;
    present = second;
    first.close();

    assertFalse(waiter.get());
    assertEquals(1, second.getNumActive());
  }

  /** The provider gives the former pool once more, which is closed before a connection is taken. */
  @Test
  void aPoolThatIsReplacedBeforeItsConnectionIsBorrowedIsNoFailure() throws Exception {
    next = second;
    first.close();

    borrow();

    assertEquals(1, second.getNumActive());
  }

  @Test
  void aWaiterLearnsThatTheClientIsClosedAndIsNotInterrupted() throws Exception {
    BackgroundCall<Boolean> waiter =
        startWaiter(
            () -> {
              assertThrows(IllegalStateException.class, this::borrow);
              return Thread.currentThread().isInterrupted();
            });

    first.close();

    assertFalse(waiter.get());
    assertTrue(pool.isClosed());
  }

  @Test
  void anInterruptOfTheCallerEndsItsWait() throws Exception {
    BackgroundCall<InterruptedException> waiter =
        startWaiter(() -> assertThrows(InterruptedException.class, this::borrow));

    waiter.interrupt();

    waiter.get();
  }

  /** Renewals that have waited for a connection in vain fail together (BatchQueue). */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void onlyACallerThatHasWaitedInVainHasATimeOut(boolean waits) throws Exception {
    first.setBlockWhenExhausted(waits);
    borrow();

    NoSuchElementException none =
        assertThrows(
            NoSuchElementException.class,
            () -> pool.borrow(TestSettings.after(waits ? 1_000_000L : LONG_NANOS)));

    assertEquals(waits, ErrorClassifier.of(none, "here", false).isTimeOut());
  }

  /** The pool throws the same exception as when all connections are in use. */
  @ParameterizedTest
  @CsvSource({
    "NOAUTH Authentication required., ACCESS_DENIED",
    "LOADING Redis is loading the dataset in memory, NOT_READY"
  })
  void aServerThatRefusesTheTestOfThePoolIsNoPoolInUse(String refusal, Kind kind) throws Exception {
    first.setTestOnBorrow(true);
    answers = command -> RespServer.error(refusal);

    CommandException fault =
        ErrorClassifier.ofConnecting(assertThrows(RuntimeException.class, this::borrow), "here");

    assertEquals(kind, fault.kind());
    answers = command -> "+PONG\r\n";
    borrow();
  }

  @Test
  void aTestOfThePoolThatFailsOnceIsABrokenConnection() {
    AtomicInteger pings = new AtomicInteger();
    first.setTestOnBorrow(true);
    answers = command -> pings.getAndIncrement() == 0 ? RespServer.HANG_UP : "+PONG\r\n";

    CommandException fault =
        ErrorClassifier.ofConnecting(assertThrows(RuntimeException.class, this::borrow), "here");

    assertEquals(Kind.UNREACHABLE, fault.kind());
    assertTrue(fault.getMessage().contains("failed the test"), fault.getMessage());
  }

  /** Until the client of the user has the new pool its commands go to the former master. */
  @Test
  void anotherServerCountsFromTheMomentWhenItsPoolIsUsed() {
    List<String> changes = new ArrayList<>();
    pool.onChange((former, now) -> changes.add(former + " " + now));
    pool.checkForFailover(true);

    server = "B";
    pool.checkForFailover(true);
    assertEquals(List.of(), changes);

    next = second;
    present = second;
    pool.checkForFailover(true);
    pool.checkForFailover(true);
    assertEquals(List.of("A B"), changes);
  }

  @Test
  void anotherServerIsReportedAgainIfAnErrorEndedTheReport() {
    AtomicInteger reports = new AtomicInteger();
    pool.onChange(
        (former, now) -> {
          if (reports.getAndIncrement() == 0) {
            throw new StackOverflowError("on purpose");
          }
        });
    pool.checkForFailover(true);
    next = second;
    present = second;

    assertThrows(StackOverflowError.class, () -> pool.checkForFailover(true));
    pool.checkForFailover(true);
    pool.checkForFailover(true);

    assertEquals(2, reports.get());
  }

  /** Its borrower may be stopped by an error after that; then the pool takes it back once more. */
  @Test
  void aConnectionThatWasGivenBackIsNotClosedUnderItsNextBorrower() throws Exception {
    workers.close(); // so that this thread does all
    PooledConnection before = borrow();
    before.giveBack(true);
    PooledConnection next = borrow();

    before.giveBack(false);

    assertTrue(next.connection().isConnected());
    assertEquals(1, first.getNumActive());
  }

  /** Where a stack has overflowed, the clean-up may fail too. */
  @Test
  void aConnectionThatAnErrorKeptFromBeingLentIsTakenBack() throws Exception {
    AtomicInteger errors = new AtomicInteger();
    ConnectionPoolConfig two = new ConnectionPoolConfig();
    two.setMaxTotal(2);
    present =
        new redis.clients.jedis.ConnectionPool(
            HostAndPort.from(redis.address()), DefaultJedisClientConfig.builder().build(), two) {
          @Override
          public void clear() {} // a connection of the former generation stays

          @Override
          public void invalidateObject(Connection connection) throws Exception {
            if (errors.getAndDecrement() > 0) {
              throw new StackOverflowError("on purpose");
            }
            super.invalidateObject(connection);
          }
        };
    next = present;
    workers.close(); // so that this thread does all
    PooledConnection broken = borrow();
    borrow().giveBack(true);
    broken.endGeneration();
    errors.set(2);

    assertThrows(StackOverflowError.class, this::borrow);
    errors.set(0);
    broken.giveBack(false);

    borrow();
    borrow();
    present.close();
  }
}
