package io.mortise.it.observability;

import static io.mortise.it.observability.Recorded.HOLD;
import static io.mortise.it.observability.Recorded.LOST;
import static io.mortise.it.observability.Recorded.WAIT;
import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockEvent;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.ChildJvm;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.JavaProcess;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import jdk.jfr.consumer.RecordedEvent;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What Flight Recorder has of real locks. */
@Timeout(120)
class FlightRecorderTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private final String name = Names.fresh();

  /** By default a hold is handed off when it is at most 20 ms old. */
  private final LockClient client =
      LockClient.create(
          redis.uri(),
          LockOptions.builder().tuning(t -> t.maxHandOffTime(Duration.ofMinutes(1))).build());

  private final LockClient other = redis.client();
  private final RedisLock lock = new RedisLock(client, name);
  private final Recorded recorded = new Recorded(name);

  @AfterEach
  void close() {
    recorded.close();
    client.close();
    other.close();
  }

  private List<RecordedEvent> waits() throws Exception {
    return recorded.events(WAIT);
  }

  @Test
  void aWaitHasTheThreadThatWaitedItsTimeAndItsStack() throws Exception {
    recorded.enable(WAIT, Duration.ofMillis(50)).enable(HOLD, Duration.ZERO).start();
    Lease held = new RedisLock(other, name).acquire();
    AsyncCall<Long> waiter =
        AsyncCall.start(
            () -> {
              lock.lock();
              long token = lock.lease().fencingToken();
              lock.unlock();
              return token;
            });
    waiter.awaitParked();
    long parkedNanos = System.nanoTime();
    until("it has waited", () -> System.nanoTime() - parkedNanos > 60_000_000);
    held.close();
    long token = waiter.get();

    RecordedEvent wait = of(token, waits());
    assertEquals("caller", wait.getThread().getJavaName());
    assertEquals("caller", wait.getString("askedBy"));
    assertEquals("lock", wait.getString("lockKind"));
    assertEquals("acquired", wait.getString("outcome"));
    assertEquals(token, wait.getLong("fencingToken"));
    assertFalse(wait.getBoolean("local"));
    assertTrue(wait.getDuration().compareTo(Duration.ofMillis(60)) >= 0, wait::toString);
    assertTrue(
        wait.getStackTrace().getFrames().stream()
            .anyMatch(frame -> frame.getMethod().getType().getName().contains("LeaseBackedLock")),
        wait::toString);
    RecordedEvent hold = of(token, recorded.events(HOLD));
    assertEquals("released", hold.getString("outcome"));
    assertEquals("caller", hold.getThread().getJavaName());
    assertTrue(!hold.getStartTime().isBefore(wait.getEndTime()), () -> wait + " " + hold);
  }

  private static RecordedEvent of(long token, List<RecordedEvent> events) {
    return events.stream()
        .filter(event -> event.getLong("fencingToken") == token)
        .findAny()
        .orElseThrow();
  }

  @Test
  void whatIsShorterThanTheThresholdIsNotRecorded() throws Exception {
    recorded.enable(WAIT, Duration.ofHours(1)).enable(HOLD, Duration.ZERO).start();
    lock.lock();
    lock.unlock();

    assertEquals(List.of(), waits());
    assertEquals(1, recorded.events(HOLD).size());
  }

  @Test
  void aHandOffIsLocal() throws Exception {
    recorded.enable(WAIT, Duration.ZERO).enable(HOLD, Duration.ZERO).start();
    lock.lock();
    AsyncCall<Void> second = AsyncCall.cycle(lock).awaitQueued();
    AsyncCall<Void> third = AsyncCall.cycle(lock).awaitQueued();
    lock.unlock();
    second.get();
    third.get();

    assertEquals(3, waits().size());
    assertTrue(waits().stream().anyMatch(wait -> wait.getBoolean("local")));
    assertEquals(3, recorded.events(HOLD).size());
  }

  @Test
  void eachEndOfAWaitIsNamed() throws Exception {
    recorded.enable(WAIT, Duration.ZERO).start();
    new RedisLock(other, name).lock();
    assertFalse(lock.tryLock());
    AsyncCall<Void> interrupted = AsyncCall.run(lock::lockInterruptibly);
    interrupted.awaitParked().interrupt();
    assertThrows(InterruptedException.class, interrupted::get);
    client.close();
    assertThrows(LockException.class, lock::lock);

    List<RecordedEvent> ends = waits();
    assertEquals(
        List.of("acquired", "not_acquired", "interrupted", "error"),
        ends.stream().map(wait -> wait.getString("outcome")).toList());
    assertTrue(ends.get(3).getString("error").contains("its client was closed"));
  }

  @Test
  void aLossIsRecordedAlsoOfAHoldThatIsOlderThanTheRecording() throws Exception {
    lock.lock();
    long token = lock.lease().fencingToken();
    recorded.enable(LOST).start();
    assertTrue(new RedisLock(other, name).forceUnlock());
    assertThrows(LeaseLostException.class, lock::unlock);

    until("the loss is recorded", () -> !recorded.events(LOST).isEmpty());
    RecordedEvent lost = recorded.events(LOST).get(0);
    assertEquals("FORCED", lost.getString("reason"));
    assertEquals(token, lost.getLong("fencingToken"));
    assertTrue(!lost.getInstant("lostAt").isAfter(lost.getStartTime().plusMillis(1)));
  }

  @Test
  void theHoldOfALossIsRecordedAsLost() throws Exception {
    recorded.enable(HOLD, Duration.ZERO).start();
    lock.lock();
    assertTrue(new RedisLock(other, name).forceUnlock());
    assertThrows(LeaseLostException.class, lock::unlock);

    assertEquals(
        List.of("lost"),
        recorded.events(HOLD).stream().map(hold -> hold.getString("outcome")).toList());
  }

  @Test
  void nothingIsRecordedOfAnEventThatIsOff() throws Exception {
    recorded.disable(WAIT).disable(HOLD).disable(LOST).start();
    lock.lock();
    assertTrue(new RedisLock(other, name).forceUnlock());
    assertThrows(LeaseLostException.class, lock::unlock);

    assertEquals(List.of(), waits());
    assertEquals(List.of(), recorded.events(HOLD));
    assertEquals(List.of(), recorded.events(LOST));
  }

  /** Events of Flight Recorder are no events of a listener, and the other way round. */
  @Test
  void aListenerGetsTheSameEventsWhileItRecords() throws Exception {
    List<LockEvent.Type> types = new CopyOnWriteArrayList<>();
    LockOptions options = LockOptions.builder().listener(event -> types.add(event.type())).build();
    recorded.enable(WAIT, Duration.ZERO).start();
    try (LockClient listening = LockClient.create(redis.uri(), options)) {
      RedisLock heard = new RedisLock(listening, name);
      heard.lock();
      heard.unlock();
    }

    assertEquals(
        List.of(LockEvent.Type.REQUESTED, LockEvent.Type.ACQUIRED, LockEvent.Type.RELEASED), types);
    assertEquals(1, waits().size());
  }

  /** A JVM without the module: a smaller run-time image. */
  @Test
  void locksWorkInAJvmWithoutFlightRecorder() throws Exception {
    try (JavaProcess process =
        ChildJvm.builder(LossProcess.class)
            .jvmOptions(
                "--limit-modules",
                "java.base,java.logging,java.management,java.naming,java.sql,jdk.unsupported")
            .arguments(redis.uri(), Names.fresh())
            .start()) {
      assertEquals("recorder false", process.awaitLine("recorder", Duration.ofMinutes(1)));
      process.awaitLine("lost", Duration.ofMinutes(1));
      assertEquals(0, process.awaitExit(Duration.ofMinutes(1)), process::output);
    }
  }
}
