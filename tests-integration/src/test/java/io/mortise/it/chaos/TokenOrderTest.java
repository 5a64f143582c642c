package io.mortise.it.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.it.chaos.HoldObserver.Grant;
import io.mortise.it.chaos.HoldObserver.Holder;
import io.mortise.it.chaos.TokenOrder.Disorder;
import io.mortise.testkit.HoldLog.Mode;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tokens out of order are found, and those of who was only late are not taken for such. */
class TokenOrderTest {

  @Test
  void tokensThatRiseAreInOrder() {
    check(List.of(), writer(1, 0, 10), writer(2, 20, 30), writer(9, 31, 40));
  }

  @Test
  void aTokenThatFallsOrStaysIsOutOfOrder() {
    Grant first = writer(5, 0, 10);
    Grant falls = writer(4, 20, 30);
    Grant stays = writer(5, 40, 50);
    check(List.of(new Disorder(first, falls), new Disorder(first, stays)), first, falls, stays);
  }

  @Test
  void allThatWereGrantedBeforeCountNotOnlyTheLast() {
    Grant largest = writer(9, 0, 10);
    Grant late = writer(3, 5, 18); // its request was sent before the largest was answered
    Grant wrong = writer(4, 20, 30);
    check(List.of(new Disorder(largest, wrong)), largest, late, wrong);
  }

  @Test
  void oneWhoWasSuspendedBetweenTheGrantAndItsRecordIsNotOutOfOrder() {
    check(List.of(), writer(5, 0, 500), writer(6, 100, 110), writer(7, 200, 210));
  }

  @Test
  void oneSuspendedDoesNotHideWhatIsOutOfOrderBehindIt() {
    Grant suspended = writer(50, 0, 500);
    Grant first = writer(8, 100, 110);
    Grant second = writer(7, 200, 210);
    check(List.of(new Disorder(first, second)), suspended, first, second);
  }

  @Test
  void readersHaveTheLastWritersTokenOrALaterOne() {
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
  void aWriterHasMoreThanTheReadersBeforeIt() {
    Grant reader = reader(5, 0, 10);
    Grant wrong = writer(5, 20, 30);
    check(List.of(new Disorder(reader, wrong)), reader, wrong);
  }

  @Test
  void resourcesHaveAnOrderEach() {
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
