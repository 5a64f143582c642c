package io.mortise.spring.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.testkit.InMemoryRedis;
import io.mortise.testkit.InMemoryRedisExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** The endpoint shows the numbers of the client's status. */
@ExtendWith(InMemoryRedisExtension.class)
@Timeout(30)
class LocksEndpointTest {
  private static ClientDescriptor shown(LockClient client) {
    return (ClientDescriptor) new LocksEndpoint(client).locks(null);
  }

  @Test
  void threadsThatWaitAreShown(InMemoryRedis redis) throws Exception {
    LockClient client = redis.client();
    Thread waiter = new Thread(() -> client.lock("stock").lock());
    Thread behind = new Thread(() -> client.lock("stock").lock());
    try (Lease other = redis.occupy(it -> it.lock("stock"))) {
      assertThat(other.isValid()).isTrue();
      assertThat(shown(client).waiters()).isZero();
      waiter.start();
      behind.start();
      await().until(() -> shown(client).waiters() == 2);
      assertThat(shown(client).contended()).isEqualTo(1);
      assertThat(shown(client).unreachableServers()).isZero();
    } finally {
      client.close(); // ends both waits
      waiter.join();
      behind.join();
    }
  }

  @Test
  void aServerThatDoesNotAnswerIsShown() {
    try (LockClient client = LockClient.create("redis://localhost:1")) {
      assertThat(shown(client).unreachableServers()).isZero();
      assertThatThrownBy(() -> client.lock("stock").tryLock()).isInstanceOf(LockException.class);
      assertThat(shown(client).unreachableServers()).isEqualTo(1);
      assertThat(shown(client).pendingReleases()).isZero();
    }
  }
}
