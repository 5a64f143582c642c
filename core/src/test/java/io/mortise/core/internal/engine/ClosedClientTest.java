package io.mortise.core.internal.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.core.LockClient;
import io.mortise.core.internal.lease.LeaseContext;
import java.time.Duration;
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
  void noTaskIsAccepted() {
    client.close();

    assertThrows(
        RejectedExecutionException.class, () -> context.tasks().schedule(() -> {}, AN_HOUR));
    assertEquals(0, context.scheduler().size());
  }
}
