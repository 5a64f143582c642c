package io.mortise.it.waiting;

import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.LockOptions;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.SharedRedis;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A waiter listens to the channel of its client while a client of Mortise holds the lock, and to
 * the channel of the lock while Redisson does. It leaves the one when it turns to the other.
 */
@Timeout(60)
@Tag("redis-version")
class ChannelChangeTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final LockOptions.Builder OPTIONS =
      LockOptions.builder()
          .lease(Duration.ofMinutes(1))
          .tuning(t -> t.subscriptionLinger(Duration.ZERO));

  @RegisterExtension
  final LockFixture tested = LockFixture.direct(redis, OPTIONS).warm().leavingNothing();

  private final String name = tested.name();
  private final String waiters = "mortise_waiters:{" + name + "}";

  private String channelOfWaiter() {
    String holder = (String) ((List<?>) redis.command("ZRANGE", waiters, "0", "0")).get(0);
    return SharedRedis.channel(name) + ":" + holder.substring(0, 36);
  }

  private void assertListensOnlyTo(String channel) {
    until(
        "it listens to that channel, and to no other",
        () -> {
          Object numbers = redis.command("PUBSUB", "NUMSUB", channel);
          return numbers.equals(List.of(channel, 1L)) && redis.subscribers(name) == 1;
        });
  }

  /** In one step: the waiter may be about to attempt, and must not find the lock free. */
  private void strangerFollowsAtOnce() {
    String script = "redis.call('DEL', KEYS[1]) redis.call('HSET', KEYS[1], 'stranger:1', '1')";
    redis.command("EVAL", script, "1", name);
  }

  @Test
  void aWaiterListensToOneChannelAtATime() throws Exception {
    redis.command("HSET", name, "aaaaaaaa-0000-8000-8000-aaaaaaaaaaaa:1-2-3", "1");
    AsyncCall<Void> waiter = tested.subscribedWaiter();
    String own = channelOfWaiter();
    assertListensOnlyTo(own);

    strangerFollowsAtOnce();
    redis.command("PUBLISH", own, "0");
    assertListensOnlyTo(SharedRedis.channel(name));

    tested.assertReleaseWakes(waiter);
    ClientResources.awaitNone(tested.client());
    until("nobody listens", () -> redis.subscribers(name) == 0);
    assertEquals(0L, redis.command("EXISTS", waiters));
  }
}
