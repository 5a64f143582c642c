package io.mortise.core.composite;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.spi.FakeLease;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The token of a hold of two locks. */
class CommonTokenTest {
  @ParameterizedTest(name = "{0} after {1}, and {2} after {3}")
  @CsvSource({
    "50, 40, 70, 30, 50", // no holder in between: both remember 50
    "50, 40, 70, 49, 50",
    "50, 40, 70, 50, 70", // 50 may be another holder's
    "50, 40, 70, 69, 70", // another holder of the second in between
    "50, 50, 70, 30, 70", // a reader's: it is its writer's
    "50, 0, 70, 0, 50", // neither had a holder
    "50, 40, 70, 0, 70", // the second may have forgotten 60
    "50, 0, 70, 60, 70",
    "50, 40, 50, 40, 50",
  })
  void isATokenThatBothRememberAndNoEarlierHolderHad(
      long one, long lastOfOne, long other, long lastOfOther, long common) {
    FakeLease a = new FakeLease("a").granted(one, lastOfOne);
    FakeLease b = new FakeLease("b").granted(other, lastOfOther);

    assertEquals(common, CommonToken.of(List.of(a, b)));
    assertEquals(common, CommonToken.of(List.of(b, a)));
  }

  @ParameterizedTest(name = "{0} used, with {1}")
  @CsvSource({
    "70, 50, 70", // the other server's clock is behind
    "50, 70, 50", // and ahead: both remember 50, and the owner goes on with it
    "50, 50, 50",
  })
  void isNotSmallerThanATokenThatTheOwnerHadBefore(long used, long other, long common) {
    FakeLease before = new FakeLease("before").granted(used, 40);
    FakeLease added = new FakeLease("added").granted(other, 40);

    assertEquals(common, CommonToken.of(List.of(before, added), used));
  }
}
