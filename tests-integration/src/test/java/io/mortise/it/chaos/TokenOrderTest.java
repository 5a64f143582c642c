package io.mortise.it.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.it.chaos.HoldObserver.Grant;
import io.mortise.it.chaos.HoldObserver.Holder;
import io.mortise.it.chaos.TokenOrder.Disorder;
import io.mortise.testkit.HoldLog.Mode;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tokens out of order are found; a grant that was only recorded late is not one of them. */
class TokenOrderTest {

  @Test
  void tokensThatIncreaseAreInOrder() {
    check(List.of(), writer(1, 0, 10), writer(2, 20, 30), writer(9, 31, 40));
  }

  @Test
  void aTokenThatDecreasesOrRepeatsIsOutOfOrder() {
    Grant first = writer(5, 0, 10);
    Grant smaller = writer(4, 20, 30);
    Grant same = writer(5, 40, 50);
    check(List.of(new Disorder(first, smaller), new Disorder(first, same)), first, smaller, same);
  }

  @Test
  void aTokenIsComparedWithAllEarlierGrantsNotOnlyTheLast() {
    Grant largest = writer(9, 0, 10);
    Grant late = writer(3, 5, 18); // sent before the answer of the largest
    Grant wrong = writer(4, 20, 30);
    check(List.of(new Disorder(largest, wrong)), largest, late, wrong);
  }

  @Test
  void aGrantThatIsRecordedLateIsNotOutOfOrder() {
    check(List.of(), writer(5, 0, 500), writer(6, 100, 110), writer(7, 200, 210));
  }

  @Test
  void aGrantThatIsRecordedLateDoesNotHideDisorderAfterIt() {
    Grant late = writer(50, 0, 500);
    Grant first = writer(8, 100, 110);
    Grant second = writer(7, 200, 210);
    check(List.of(new Disorder(first, second)), late, first, second);
  }

  @Test
  void readersHaveTheTokenOfTheLastWriterOrALaterOne() {
    Grant writer = writer(5, 0, 10);
    Grant wrong = reader(4, 60, 70);
    check(
        List.of(new Disorder(writer, wrong)), writer, reader(5, 20, 30), reader(5, 40, 50), wrong);
  }

  @Test
  void twoReadersHaveNoOrder() {
    check(List.of(), reader(6, 0, 10), reader(5, 20, 30));
  }

  @Test
  void aWriterHasALargerTokenThanTheReadersBeforeIt() {
    Grant reader = reader(5, 0, 10);
    Grant wrong = writer(5, 20, 30);
    check(List.of(new Disorder(reader, wrong)), reader, wrong);
  }

  @Test
  void eachResourceHasItsOwnOrder() {
    check(List.of(), grant("a", Mode.EXCLUSIVE, 5, 0, 10), grant("b", Mode.EXCLUSIVE, 4, 20, 30));
  }

  private static void check(List<Disorder> expected, Grant... grants) {
    assertEquals(expected, TokenOrder.check(List.of(grants)));
  }

  private static Grant writer(long token, long notBefore, long notAfter) {
    return grant("a", Mode.EXCLUSIVE, token, notBefore, notAfter);
  }

  private static Grant reader(long token, long notBefore, long notAfter) {
    return grant("a", Mode.SHARED, token, notBefore, notAfter);
  }

  private static Grant grant(
      String resource, Mode mode, long token, long notBefore, long notAfter) {
    return new Grant(
        new Holder(1, resource + notBefore), resource, mode, token, notBefore, notAfter);
  }
}
