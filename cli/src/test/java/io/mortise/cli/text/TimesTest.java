package io.mortise.cli.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TimesTest {
  @ParameterizedTest
  @CsvSource({
    "-5, 0.0 s",
    "0, 0.0 s",
    "12340, 12.3 s",
    "99999, 100.0 s",
    "100000, 1 min 40 s",
    "5999000, 99 min 59 s",
    "6000000, 1 h 40 min",
    "172799000, 47 h 59 min",
    "187200000, 2 d 4 h",
  })
  void aTimeHasTwoUnitsAtMost(long millis, String text) {
    assertEquals(text, Times.of(Duration.ofMillis(millis)));
  }
}
