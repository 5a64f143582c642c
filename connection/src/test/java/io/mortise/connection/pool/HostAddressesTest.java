package io.mortise.connection.pool;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.common.util.concurrent.Uninterruptibles;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.TestSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class HostAddressesTest {
  private static final long LONG_NANOS = Duration.ofMinutes(5).toNanos();
  private static final InetAddress[] FOUND = {InetAddress.getLoopbackAddress()};

  private final CountDownLatch go = new CountDownLatch(1);
  private final AtomicInteger questions = new AtomicInteger();
  private final HostAddresses addresses = new HostAddresses("redis.example", this::whenItMay);

  private InetAddress[] whenItMay(String host) {
    questions.incrementAndGet();
    try {
      go.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return FOUND;
  }

  private static Deadline soon() {
    return TestSettings.after(LONG_NANOS);
  }

  @Test
  void eachCallerWaitsUntilItsOwnDeadlineForTheOneQuestionThatIsUnderWay() throws Exception {
    for (int i = 0; i < 3; i++) {
      assertThrows(SocketTimeoutException.class, () -> addresses.until(TestSettings.after(0)));
    }
    List<BackgroundCall<List<InetAddress>>> patient = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      patient.add(BackgroundCall.startAndPark(() -> addresses.until(soon())));
    }
    go.countDown();

    for (BackgroundCall<List<InetAddress>> caller : patient) {
      assertEquals(List.of(FOUND), caller.get());
    }
    assertEquals(1, questions.get());
    assertEquals(List.of(FOUND), addresses.until(soon()));
    assertEquals(2, questions.get(), "what was found before may have changed");
  }

  @Test
  void aHostWithoutAnAddressIsToldAndAskedForAgain() {
    HostAddresses none =
        new HostAddresses(
            "redis.example",
            host -> {
              questions.incrementAndGet();
              throw new UnknownHostException("on purpose");
            });
    for (int i = 0; i < 2; i++) {
      assertEquals(
          "redis.example",
          assertThrows(UnknownHostException.class, () -> none.until(soon())).getMessage());
    }
    assertEquals(2, questions.get());
  }

  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1", "::1", "[::1]", "fe80::1"})
  void anAddressIsNotLookedUpOnAThreadOfItsOwn(String literal) throws Exception {
    Thread caller = Thread.currentThread();
    HostAddresses itself =
        new HostAddresses(
            literal,
            host -> {
              assertEquals(caller, Thread.currentThread());
              return InetAddress.getAllByName(host);
            });

    assertEquals(List.of(InetAddress.getAllByName(literal)), itself.until(TestSettings.after(0)));
  }

  /** As on a stack that has nearly overflowed. */
  @Test
  void whereNoThreadCanBeStartedNobodyWaitsAndTheNextCallerTriesAgain() throws Exception {
    CountDownLatch starting = new CountDownLatch(1);
    AtomicInteger starts = new AtomicInteger();
    go.countDown();
    HostAddresses failing =
        new HostAddresses(
            "redis.example",
            this::whenItMay,
            task -> {
              if (starts.getAndIncrement() > 0) {
                return new Thread(task);
              }
              Uninterruptibles.awaitUninterruptibly(starting);
              throw new StackOverflowError("on purpose");
            });
    BackgroundCall<IOException> first =
        BackgroundCall.start(() -> assertThrows(IOException.class, () -> failing.until(soon())));
    await().atMost(BackgroundCall.LIVENESS).until(() -> starts.get() == 1);
    BackgroundCall<IOException> joined =
        BackgroundCall.startAndPark(
            () -> assertThrows(IOException.class, () -> failing.until(soon())));
    starting.countDown();

    assertEquals("the look-up of redis.example failed", first.get().getMessage());
    assertEquals("the look-up of redis.example failed", joined.get().getMessage());
    assertEquals(List.of(FOUND), failing.until(soon()));
  }
}
