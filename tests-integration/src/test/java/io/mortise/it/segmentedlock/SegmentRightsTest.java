package io.mortise.it.segmentedlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.it.contract.Rights;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.LateAnswer;
import io.mortise.it.support.SharedRedis;
import io.mortise.segmentedlock.SegmentLease;
import io.mortise.segmentedlock.SegmentedLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The rights that docs/wire.md names for a segmented lock, and no others, are enough. */
@Timeout(60)
@Tag("redis-version")
class SegmentRightsTest {
  private static final Duration HOUR = Duration.ofHours(1);

  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  @Test
  void theDocumentedRightsAreEnough() throws Exception {
    List<String> rules =
        new ArrayList<>(List.of("ACL", "SETUSER", "limited", "reset", "on", ">x", "resetkeys"));
    rules.addAll(Rights.ofSegmentedLocks("it:"));
    redis.command(rules.toArray(String[]::new));
    String uri = "redis://limited:x@%s:%d".formatted(redis.server().host(), redis.server().port());
    try (LockClient client = LockClient.create(uri)) {
      SegmentedLock lock = new SegmentedLock(client, "it:rights", 2);
      SegmentLease first = lock.acquireAny(HOUR).orElseThrow();
      SegmentLease second = lock.acquireAny(HOUR).orElseThrow();
      AsyncCall<Optional<SegmentLease>> waiter = AsyncCall.start(() -> lock.acquireAny(HOUR));
      Eventually.until("it waits", () -> lock.queueLength() == 1);
      Duration wait = Duration.ofMillis(50);
      assertTrue(LateAnswer.repeat(wait, () -> lock.acquireAny(wait)).isEmpty());
      first.close();
      waiter.get().orElseThrow().close();
      lock.exhausted(second.index());
      assertEquals(List.of(second.index()), lock.exhaustedSegments());
      lock.resetAll();
      assertTrue(lock.segment(second.index()).forceUnlock());
      lock.acquireAll(HOUR).orElseThrow().close();
    }
  }
}
