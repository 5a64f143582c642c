package io.mortise.cli.options;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class TimeConverterTest {
  private final TimeConverter converter = new TimeConverter();

  @ParameterizedTest
  @CsvSource({
    "1500ms, PT1.5S",
    "2s, PT2S",
    "5m, PT5M",
    "1h, PT1H",
    "2d, PT48H",
    "0, PT0S",
    "PT5S, PT5S",
    "365d, P365D"
  })
  void timesHaveAUnit(String text, Duration time) {
    assertEquals(time, converter.convert(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "5",
        "-1s",
        "PT-1S",
        "1.5s",
        "1 s",
        "5w",
        "9999999999s",
        "366d",
        "PT999999999H"
      })
  void anythingElseIsRefused(String text) {
    assertThrows(TypeConversionException.class, () -> converter.convert(text));
  }
}
