package io.mortise.it.multilock;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.multilock.MultiLock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The listeners of a composite hold run on the workers of its client, also while that closes. */
@Timeout(60)
class ListenerAtCloseTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  @Test
  void aListenerHasTheTimeOfACommandToEnd() throws Exception {
    LockClient client =
        LockClient.create(
            redis.uri(), LockOptions.builder().commandTimeout(Duration.ofSeconds(30)).build());
    MultiLock lock =
        new MultiLock(new RedisLock(client, Names.fresh()), new RedisLock(client, Names.fresh()));
    Lease lease = lock.acquire();
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    CompletableFuture<String> outcome = new CompletableFuture<>();
    lease.onLost(
        loss -> {
          begun.countDown();
          try {
            goOn.await();
            outcome.complete("ended");
          } catch (InterruptedException e) {
            outcome.complete("interrupted");
          }
        });

    AsyncCall<Void> closing = AsyncCall.run(client::close);
    begun.await();
    Eventually.until(
        "the close waits for the listener, or has ended",
        () -> closing.isDone() || closing.isIn(ThreadPoolExecutor.class, "awaitTermination"));
    goOn.countDown();

    closing.get();
    assertEquals("ended", outcome.get(10, TimeUnit.SECONDS));
  }
}
