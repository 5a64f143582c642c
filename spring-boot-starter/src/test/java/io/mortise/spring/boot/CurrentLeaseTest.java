package io.mortise.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.core.Lease;
import io.mortise.testkit.InMemoryRedis;
import io.mortise.testkit.InMemoryRedisExtension;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A test without Spring runs a method as if it had the lock. */
@ExtendWith(InMemoryRedisExtension.class)
class CurrentLeaseTest {
  static class Shop {
    @Locked(name = "stock:#{#article}")
    public long sell(String article) {
      return CurrentLease.get().fencingToken();
    }
  }

  private final Shop shop = new Shop();

  @Test
  void theMethodHasTheLeaseThatIsGiven(InMemoryRedis redis) throws Exception {
    try (Lease shoe = redis.client().lock("stock:shoe").tryAcquire().orElseThrow();
        Lease hat = redis.client().lock("stock:hat").tryAcquire().orElseThrow()) {
      assertThat(CurrentLease.callWith(shoe, () -> shop.sell("shoe")))
          .isEqualTo(shoe.fencingToken());
      CurrentLease.runWith(
          shoe,
          () -> {
            CurrentLease.runWith(hat, () -> assertThat(CurrentLease.get()).isSameAs(hat));
            assertThat(CurrentLease.get()).isSameAs(shoe);
          });
      assertThat(shoe.isValid()).isTrue();
    }
  }

  @Test
  void afterTheWorkThereIsNoLeaseWhateverItThrows(InMemoryRedis redis) throws Exception {
    try (Lease lease = redis.client().lock("stock:shoe").tryAcquire().orElseThrow()) {
      assertThatThrownBy(
              () ->
                  CurrentLease.callWith(
                      lease,
                      () -> {
                        throw new IOException("body");
                      }))
          .isInstanceOf(IOException.class)
          .hasMessage("body");
      assertThatThrownBy(() -> shop.sell("shoe")).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(
              () ->
                  CurrentLease.runWith(
                      lease,
                      () -> {
                        throw new IllegalArgumentException("body");
                      }))
          .hasMessage("body");
      assertThatThrownBy(() -> shop.sell("shoe")).isInstanceOf(IllegalStateException.class);
    }
  }
}
