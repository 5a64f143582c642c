package io.mortise.it.certainty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.FaultProxy.Direction;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The loss of a hold that expires during its release, and the status of a closed client. */
@Timeout(60)
class EndOfHoldTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  @RegisterExtension final LockFixture tested = LockFixture.proxied(redis, LockOptions.builder());

  private final LockClient client = tested.client();
  private final RedisLock lock = tested.lock();

  @Test
  void aHoldThatExpiresDuringItsReleaseIsReportedAsExpired() {
    lock.withLease(Duration.ofMillis(500)).lock();
    tested.proxy().delay(Direction.TO_SERVER, Duration.ofMillis(700));

    LeaseLoss loss = assertThrows(LeaseLostException.class, lock::unlock).loss();

    assertEquals(LeaseLoss.Reason.EXPIRED, loss.reason(), loss.detail());
  }

  @Test
  void aClosedClientIsIdle() throws Exception {
    RedisFairLock fair = new RedisFairLock(client, Names.fresh());
    RedisFairLock fairOfOther = new RedisFairLock(tested.otherClient(), fair.name());
    fairOfOther.lock();
    lock.lock();
    AsyncCall<Void> inQueue = AsyncCall.run(fair::lock);
    AsyncCall<Void> inLocalQueue = AsyncCall.run(lock::lock);
    Eventually.until("it waits in the queue", () -> fairOfOther.queueLength() == 1);
    inLocalQueue.awaitQueued();

    client.close();

    assertThrows(LockException.class, inQueue::get);
    assertThrows(LockException.class, inLocalQueue::get);
    assertThrows(LeaseLostException.class, lock::unlock);
    ClientResources.awaitNone(client);
    fairOfOther.unlock();
  }
}
