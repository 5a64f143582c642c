package io.mortise.core.internal.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.spi.FakeLease;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MinimumEndTest {
  private final MinimumEnd minimum = new MinimumEnd();

  /** The clock may show any number, and pass its largest one. */
  @ParameterizedTest
  @ValueSource(longs = {0, 1, -1, -5_000_000, Long.MAX_VALUE - 1_000_000, Long.MIN_VALUE})
  void theLatestEndCountsAndTheRestIsRoundedUp(long now) {
    assertEquals(0, minimum.leftMillis(now));

    minimum.extendTo(now + 5_000_000);
    minimum.extendTo(now + 2_000_000);

    assertEquals(5, minimum.leftMillis(now));
    assertEquals(1, minimum.leftMillis(now + 4_999_000));
    assertEquals(0, minimum.leftMillis(now + 5_000_001));
    assertEquals(0, minimum.leftMillis(now + 9_000_000));
    minimum.extendTo(now + 8_000_000);
    assertEquals(8, minimum.leftMillis(now));
    minimum.waive();
    assertEquals(0, minimum.leftMillis(now));
  }

  @ParameterizedTest
  @ValueSource(longs = {-7, 7})
  void aMemberGetsItOnlyIfThereIsOne(long end) {
    FakeLease member = new FakeLease("orders");
    minimum.applyTo(member);
    assertEquals(List.of(), member.kept);

    minimum.extendTo(end);
    minimum.applyTo(member);

    assertEquals(List.of(end), member.kept);
  }
}
