package io.mortise.core;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DurationsTest {

  @ParameterizedTest
  @EnumSource(TimeUnit.class)
  void threeOfAUnitAreThreeOfThatUnit(TimeUnit unit) {
    assertEquals(Duration.of(3, unit.toChronoUnit()), Durations.of(3, unit));
  }

  @Test
  void zeroOrLessIsOneAttempt() {
    assertEquals(Duration.ZERO, Durations.of(0, TimeUnit.SECONDS));
    assertEquals(Duration.ZERO, Durations.of(-1, TimeUnit.SECONDS));
    assertEquals(Duration.ZERO, Durations.of(Long.MIN_VALUE, TimeUnit.DAYS));
  }

  @Test
  void aTimeThatIsTooLongIsTheLongestDuration() {
    assertEquals(Duration.ofNanos(Long.MAX_VALUE), Durations.of(Long.MAX_VALUE, TimeUnit.DAYS));
  }
}
