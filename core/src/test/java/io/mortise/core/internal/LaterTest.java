package io.mortise.core.internal;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockOptions;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A task for later. The server is never asked. */
@Timeout(60)
class LaterTest {
  private static final long HOUR_NANOS = 3_600_000_000_000L;
  private static final long SOON_NANOS = 20_000_000L;

  private final Engine engine =
      (Engine) Engine.create("redis://localhost:1", LockOptions.defaults());
  private final List<String> done = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() {
    engine.close();
  }

  private void awaitDone(String... tasks) {
    await()
        .atMost(TestThread.LIVENESS)
        .untilAsserted(() -> assertEquals(List.of(tasks), List.copyOf(done)));
  }

  @Test
  void itIsDoneOnceOnAWorkerAndNotBeforeItsTime() {
    long start = System.nanoTime();
    engine.later(
        () -> done.add(Thread.currentThread().getName().replaceAll("-\\w{8}-\\d+$", "")),
        SOON_NANOS);

    awaitDone("mortise-worker");

    assertTrue(System.nanoTime() - start >= SOON_NANOS);
    assertEquals(0, engine.status().scheduled(), "it will not be done again");
  }

  @Test
  void eachHasItsOwnTime() {
    engine.later(() -> done.add("second"), 10 * SOON_NANOS);
    engine.later(() -> done.add("never"), HOUR_NANOS);
    engine.later(() -> done.add("first"), SOON_NANOS);

    awaitDone("first", "second");

    assertEquals(1, engine.status().scheduled());
  }

  @Test
  void whatIsTakenBackIsNotDone() {
    Runnable takeBack = engine.later(() -> done.add("taken back"), SOON_NANOS);
    takeBack.run();
    takeBack.run();
    engine.later(() -> done.add("after that"), 2 * SOON_NANOS);

    awaitDone("after that");
  }

  @Test
  void takingBackWhatIsDoneChangesNothing() {
    Runnable takeBack = engine.later(() -> done.add("done"), 0);
    awaitDone("done");

    takeBack.run();

    assertEquals(0, engine.status().scheduled());
  }

  @Test
  void aTaskThatThrowsDoesNotHarmTheNext() {
    engine.later(
        () -> {
          throw new IllegalStateException("on purpose");
        },
        0);
    engine.later(() -> done.add("next"), SOON_NANOS);

    awaitDone("next");
  }

  @Test
  void aClosedClientDoesNothingLater() {
    engine.later(() -> done.add("never"), SOON_NANOS);
    engine.close();
    Later task = new Later(engine, () -> done.add("never"), engine.nanos());

    task.onTime(engine.nanos());

    assertEquals(List.of(), done);
  }
}
