package io.mortise.core.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.composite.CompositeLease;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The token of a hold that is made of two. */
class CommonTokenTest {
  @ParameterizedTest(name = "{0} after {1}, and {2} after {3}")
  @CsvSource({
    "50, 40, 70, 30, 50", // nobody came in between: both remember 50
    "50, 40, 70, 49, 50",
    "50, 40, 70, 50, 70", // 50 may have been another's
    "50, 40, 70, 69, 70", // another came to the second in between
    "50, 50, 70, 30, 70", // a reader's: it is its writer's
    "50, 0, 70, 0, 50", // nobody was ever there
    "50, 40, 70, 0, 70", // the second may have forgotten 60
    "50, 0, 70, 60, 70",
    "50, 40, 50, 40, 50",
  })
  void isOneThatBothRememberAndNobodyHadBefore(
      long one, long lastOfOne, long other, long lastOfOther, long common) {
    FakeLease a = new FakeLease("a").granted(one, lastOfOne);
    FakeLease b = new FakeLease("b").granted(other, lastOfOther);

    assertEquals(common, CompositeLease.commonToken(List.of(a, b)));
    assertEquals(common, CompositeLease.commonToken(List.of(b, a)));
  }
}
