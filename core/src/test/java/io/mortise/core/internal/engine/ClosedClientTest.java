package io.mortise.core.internal.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.connection.concurrent.WorkerPool.NamedThreadFactory;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.ReleaseFairness;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A closed client keeps nothing that it would have done later. */
@Timeout(60)
class ClosedClientTest {
  private static final long AN_HOUR = Duration.ofHours(1).toNanos();

  private final RedisLockClient client = (RedisLockClient) LockClient.create("redis://127.0.0.1:1");
  private final LeaseContext context = client.context().lease();

  @Test
  void theTasksOfTheSchedulerAreForgotten() {
    Runnable cancel = context.tasks().schedule(() -> {}, AN_HOUR);

    client.close();

    assertEquals(0, context.scheduler().size());
    assertEquals(0, client.status().scheduled());
    cancel.run();
  }

  @Test
  void aClientWhoseSchedulerCannotBeStartedLeavesNoThread() throws Exception {
    List<Thread> made = new CopyOnWriteArrayList<>();
    NamedThreadFactory threads =
        (task, name) -> {
          Thread thread =
              name.contains("scheduler") ? new UnstartableThread() : new Thread(task, name);
          made.add(thread);
          return thread;
        };
    LockOptions options = LockOptions.builder().listener(event -> {}).build();
    ReleaseFairness fairness = new ReleaseFairness(0);
    try (RespServer server = new RespServer(command -> RespServer.SILENCE)) {
      assertThrows(
          OutOfMemoryError.class, () -> TestClients.of(server, options, threads, fairness));
    }

    assertEquals(2, made.size());
    for (Thread thread : made) {
      thread.join(BackgroundCall.LIVENESS.toMillis());
      assertFalse(thread.isAlive(), thread::getName);
    }
  }

  private static final class UnstartableThread extends Thread {
    @Override
    public synchronized void start() {
      throw new OutOfMemoryError("unable to create native thread (on purpose)");
    }
  }

  @Test
  void noTaskIsAccepted() {
    client.close();

    assertThrows(
        RejectedExecutionException.class, () -> context.tasks().schedule(() -> {}, AN_HOUR));
    assertEquals(0, context.scheduler().size());
  }
}
