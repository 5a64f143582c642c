package io.mortise.core.composite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.core.internal.lease.UndeliveredException;
import io.mortise.core.spi.FakeLease;
import io.mortise.core.spi.FakeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The state of a composite hold, and the members that may join it. */
@Timeout(60)
class CompositeLeaseTest {
  private final FakeSource source = new FakeSource("composite");
  private final FakeLease a = new FakeLease("a");
  private final FakeLease b = new FakeLease("b");
  private final FakeLease c = new FakeLease("c");
  private final List<Object> notified = new ArrayList<>();

  private FakeComposite listening(FakeComposite hold) {
    hold.onStateChange(notified::add);
    hold.onLost(loss -> notified.add(loss.reason()));
    return hold;
  }

  @ParameterizedTest(name = "{1} of {0}: {2}")
  @CsvSource({
    "HELD HELD HELD, 3, HELD",
    "HELD HELD HELD, 2, HELD",
    "HELD AT_RISK HELD, 3, AT_RISK",
    "HELD AT_RISK HELD, 2, HELD",
    "AT_RISK AT_RISK HELD, 2, AT_RISK",
    "AT_RISK LOST HELD, 2, AT_RISK",
    "HELD LOST HELD, 2, HELD",
    "HELD LOST HELD, 3, LOST",
    "HELD LOST LOST, 2, LOST",
    "AT_RISK LOST RELEASED, 2, LOST",
    "HELD RELEASED HELD, 3, LOST",
    "HELD, 1, HELD",
    "LOST, 1, LOST",
  })
  void itIsValidWhileTheRequiredNumberOfMembersIs(String states, int required, State expected) {
    FakeLease[] members =
        Arrays.stream(states.split(" ", -1))
            .map(state -> new FakeLease("m", State.valueOf(state)))
            .toArray(FakeLease[]::new);
    FakeComposite hold = FakeComposite.of(source, required, members);

    assertEquals(expected, hold.state());
    assertEquals(expected != State.LOST, hold.isValid());
    assertEquals(expected == State.LOST ? 1 : 0, hold.lost.get());
  }

  @Test
  void itLastsAsLongAsTheShortestOfTheLongestThatAreRequired() {
    a.remaining = Duration.ofSeconds(7);
    b.remaining = Duration.ofSeconds(3);
    c.remaining = Duration.ofSeconds(5);

    assertEquals(
        Duration.ofSeconds(3), FakeComposite.ofHeldElsewhere(source, 3, a, b, c).remaining());
    FakeComposite two = FakeComposite.of(source, 2, a, b, c);
    assertEquals(Duration.ofSeconds(5), two.remaining());
    a.lose();
    assertEquals(Duration.ofSeconds(3), two.remaining());
    b.lose();
    assertEquals(Duration.ZERO, two.remaining());
    assertEquals(Duration.ZERO, FakeComposite.of(source, 1, a, b).remaining());
  }

  @Test
  void listenersAreNotifiedOfRiskAndLossOnceAndInOrder() {
    FakeComposite hold = listening(FakeComposite.of(source, 2, a, b, c));

    a.becomes(State.AT_RISK);
    a.tell();
    assertEquals(0, source.submitted.size(), "two are still on time");
    b.becomes(State.AT_RISK);
    b.tell();
    b.becomes(State.HELD);
    b.tell();
    a.lose();
    c.lose();
    c.tell();
    hold.state();
    source.work();

    assertEquals(List.of(State.AT_RISK, State.HELD, State.LOST, Reason.EXPIRED), notified);
    assertEquals(1, hold.lost.get());
    hold.onLost(loss -> notified.add("late"));
    assertEquals("late", notified.get(4), "a late listener is notified at once");
  }

  /** Both are renewed while a thread that reads the state has seen one of them only. */
  @Test
  void aReaderThatIsOvertakenByRenewalsLeavesNoListenerWithTheRiskBefore() {
    FakeComposite hold = listening(FakeComposite.of(source, 2, a, b));
    a.becomes(State.AT_RISK);
    a.tell();
    b.becomes(State.AT_RISK);
    b.tell();
    b.beforeState =
        () -> {
          b.beforeState = () -> {};
          a.becomes(State.HELD);
          a.tell();
          b.becomes(State.HELD);
          b.tell();
        };

    var unused = hold.isValid();

    source.work();
    assertEquals(State.HELD, notified.get(notified.size() - 1), notified::toString);
  }

  /** One is late while a thread that reads the state has seen that it was on time. */
  @Test
  void aReaderThatIsOvertakenByALateRenewalLeavesNoListenerWithoutTheRisk() {
    var unused = listening(FakeComposite.of(source, 3, a, b, c));
    a.becomes(State.AT_RISK);
    a.tell();
    a.becomes(State.HELD); // whose thread is on its way
    c.beforeState =
        () -> {
          c.beforeState = () -> {};
          b.becomes(State.AT_RISK);
          b.tell();
        };

    a.tell();

    source.work();
    assertEquals(State.AT_RISK, notified.get(notified.size() - 1), notified::toString);
  }

  @Test
  void theDecisiveLossIsReportedAndAllInvalidMembersAreNamed() {
    long now = System.nanoTime();
    FakeComposite hold = FakeComposite.of(source, 2, a, b, c);
    b.loses(Reason.FORCED, now);
    a.loses(Reason.MISSING, now - 1_000);

    LeaseLoss loss = hold.loss().orElseThrow();

    assertEquals(Reason.FORCED, loss.reason());
    assertEquals(now, loss.atNanos());
    assertEquals("composite", loss.lockName());
    assertEquals(
        "the hold is lost: of 3 members 2 must stand, and these do not: 'a': detail of a; 'b':"
            + " detail of b",
        loss.detail());
    assertSame(loss, assertThrows(LeaseLostException.class, hold::ensureValid).loss());
  }

  @Test
  void aMemberThatIsReleasedByItselfIsALoss() {
    FakeComposite hold = FakeComposite.of(source, 2, a, b);
    b.release();

    LeaseLoss loss = hold.loss().orElseThrow();

    assertEquals(Reason.MISSING, loss.reason());
    assertTrue(loss.detail().endsWith("'b': it was released by itself"), loss.detail());
  }

  @Test
  void aLostHoldIsNotRevivedByItsMembers() {
    FakeComposite hold = FakeComposite.of(source, 2, a, b);
    a.becomes(State.RELEASED);
    assertEquals(State.LOST, hold.state());

    a.becomes(State.HELD);

    assertEquals(State.LOST, hold.state());
    assertEquals(1, hold.lost.get());
  }

  @Test
  void aMemberThatIsLostWhileTheHoldIsValidIsReported() {
    FakeLease lostBefore = new FakeLease("before", State.LOST);
    FakeComposite hold = FakeComposite.ofHeldElsewhere(source, 2, a, lostBefore, b, c);
    assertEquals(List.of("1 before"), hold.lostMembers);

    b.lose();
    assertEquals(List.of("1 before", "2 b"), hold.lostMembers);
    c.lose();
    assertEquals(List.of("1 before", "2 b"), hold.lostMembers, "then the whole hold was lost");
    assertEquals(1, hold.lost.get());
    assertEquals(1, hold.valid());
  }

  @Test
  void membersThatOutliveTheHoldAreNotWatchedAnyMore() {
    FakeComposite hold = FakeComposite.ofHeldElsewhere(source, 2, a, b);
    assertEquals(1, a.listeners());
    hold.release();
    assertEquals(0, a.listeners() + b.listeners());
  }

  /** The release of such a member may find it lost, which this hold has reported. */
  @Test
  void membersThatEndWithTheHoldAreWatchedToTheirEnd() {
    FakeComposite hold = FakeComposite.of(source, 2, a, b);
    a.lose();
    assertThrows(LeaseLostException.class, hold::close);
    assertEquals(1, b.listeners());
  }

  @Test
  void aMemberIsWatchedBeforeItCounts() {
    FakeComposite hold = FakeComposite.of(source, 1, "h-");
    hold.at(0).beforeState = () -> assertEquals(1, b.listeners()); // which a joining member asks
    assertTrue(hold.joins(1, null, b));

    assertFalse(hold.joins(1, null, c), "the place is taken");
    assertEquals(0, c.listeners());
  }

  @Test
  void withoutAThreadTheLossIsNotifiedLaterAndAfterCloseAtOnce() {
    FakeComposite hold = listening(FakeComposite.of(source, 1, a));
    source.withoutThreads = true;
    a.lose();
    assertEquals(State.LOST, hold.state());
    assertEquals(List.of(), notified);
    source.scheduled.forEach(Runnable::run);
    assertEquals(List.of(State.LOST, Reason.EXPIRED), notified);

    notified.clear();
    listening(FakeComposite.of(source, 1, b));
    source.closed = true;
    b.lose();
    assertEquals(List.of(State.LOST, Reason.EXPIRED), notified);
  }

  /** A client may lose all of its holds at once. */
  @Test
  void aLossThatNoListenerHearsOfHasNoWorkerOfItsOwn() {
    FakeComposite hold = FakeComposite.of(source, 2, a, b);
    var unused = hold.onChangeWhileHeld(notified::add, true);

    a.lose();
    source.work();

    assertEquals(List.of("dependents", "log"), source.workers);
    assertEquals(List.of(State.LOST), notified);
    assertEquals(1, b.backgroundReleases.get());
  }

  @Test
  void withoutMemoryTheMemberNotifiesAgainUntilTheLossIsNotified() {
    listening(FakeComposite.ofHeldElsewhere(source, 1, a));
    source.withoutMemory = true;
    assertThrows(UndeliveredException.class, a::lose, "or the member would not notify again");
    assertThrows(UndeliveredException.class, a::tell);

    source.withoutMemory = false;
    a.tell();
    source.work();

    assertEquals(List.of(State.LOST, Reason.EXPIRED), notified);
  }

  @Test
  void aNotificationThatLackedAThreadIsMadeWhenAMemberNotifiesAgain() {
    listening(FakeComposite.ofHeldElsewhere(source, 2, a, b));
    source.withoutMemory = true;
    a.becomes(State.AT_RISK);
    assertThrows(UndeliveredException.class, a::tell);

    source.withoutMemory = false;
    a.tell();
    source.work();

    assertEquals(List.of(State.AT_RISK), notified);
  }

  @Test
  void aReaderOfALostHoldHasTheLossNotified() {
    FakeComposite hold = listening(FakeComposite.ofHeldElsewhere(source, 1, a));
    source.withoutMemory = true;
    assertThrows(UndeliveredException.class, a::lose);

    source.withoutMemory = false;
    assertEquals(State.LOST, hold.state());
    source.work();

    assertEquals(List.of(State.LOST, Reason.EXPIRED), notified);
  }

  // ---- joining

  private FakeComposite withAHole() {
    return new FakeComposite(source, 2, null, Arrays.asList(a, b, null));
  }

  @Test
  void aMemberThatJoinsCountsAndIsWatched() {
    FakeComposite hold = withAHole();
    assertEquals(2, hold.valid());

    assertTrue(hold.joins(2, null, c));

    assertEquals(3, hold.valid());
    a.lose();
    assertEquals(State.HELD, hold.state());
    c.lose();
    assertEquals(List.of("0 a"), hold.lostMembers);
    assertEquals(State.LOST, hold.state());
  }

  @Test
  void aMemberThatJoinsGetsTheMinimumThatTheOthersHave() {
    FakeComposite hold = withAHole();
    a.since = 7;
    b.since = 9;
    assertEquals(9, hold.sinceNanos(), "that of the latest member");

    hold.keepUntil(20);
    assertTrue(hold.joins(2, null, c));
    hold.keepUntil(30);

    assertEquals(List.of(20L, 30L), a.kept);
    assertEquals(a.kept, b.kept);
    assertEquals(List.of(20L, 20L, 30L), c.kept, "before it counts, and after");
    hold.waiveMinimum();
    assertEquals(List.of(), a.kept);
  }

  @Test
  void aMemberThatJoinsHasTheMinimumWhenAReleaseMeetsIt() {
    FakeComposite hold = withAHole();
    hold.keepUntil(20);
    whenReadNext(a, hold::release); // which the joining of a member does

    assertFalse(hold.joins(2, null, c), "the release was before it counted");

    assertEquals(1, c.releases.get());
    assertEquals(List.of(20L), c.keptAtRelease);
  }

  private static void whenReadNext(FakeLease member, Runnable action) {
    member.beforeState =
        () -> {
          member.beforeState = () -> {};
          action.run();
        };
  }

  @Test
  void aMemberThatIsLostWhenItJoinsIsReported() {
    FakeComposite hold = withAHole();

    assertTrue(hold.joins(2, null, new FakeLease("late", State.LOST)));

    assertEquals(List.of("2 late"), hold.lostMembers);
    assertEquals(State.HELD, hold.state());
  }

  @Test
  void aMemberReplacesOnlyTheExpectedOne() {
    FakeComposite hold = withAHole();

    assertFalse(hold.joins(0, null, c), "the place is taken");
    assertFalse(hold.joins(2, a, c), "another member is expected");
    assertSame(a, hold.at(0));
    assertNull(hold.at(2));
    assertTrue(hold.joins(2, null, c));
    FakeLease d = new FakeLease("d");
    assertTrue(hold.joins(0, a, d));
    assertSame(d, hold.at(0));
  }

  /** A thread that reads the members stands still while two of them are lost and replaced. */
  @Test
  void theLossOfMembersThatWereReplacedIsNoLossOfTheHold() {
    FakeComposite hold = FakeComposite.of(source, 2, a, b, c);
    whenReadNext(
        a,
        () -> {
          a.lose();
          assertTrue(hold.joins(0, a, new FakeLease("new a")));
          b.lose();
          assertTrue(hold.joins(1, b, new FakeLease("new b")));
        });

    assertEquals(State.HELD, hold.state());
    assertEquals(3, hold.valid());
  }

  @Test
  void aMajorityThatHasEndedUnnoticedIsNotCompleted() {
    FakeComposite hold = withAHole();
    a.loses(Reason.EXPIRED, System.nanoTime()); // and no call has noticed

    assertFalse(hold.joins(2, null, c), "others may have held the lock in between");

    assertEquals(State.LOST, hold.state());
    assertNull(hold.at(2));
  }

  @Test
  void noMemberJoinsAHoldThatHasEnded() {
    FakeComposite released = withAHole();
    released.beforeRelease = () -> assertFalse(released.joins(2, null, c), "being released");
    released.close();
    assertFalse(released.joins(2, null, c), "released");
    assertNull(released.at(2));
    assertEquals(0, c.releases.get(), "its caller keeps it");

    FakeComposite lost = FakeComposite.of(source, 2, c, new FakeLease("d", State.LOST));
    assertEquals(State.LOST, lost.state());
    assertFalse(lost.joins(1, lost.at(1), a));
  }

  @Test
  void aMemberThatJoinsDuringTheReleaseIsReleasedByOneOfTheTwo() throws Exception {
    for (int round = 0; round < 2_000; round++) {
      FakeComposite hold = withAHole();
      FakeLease late = new FakeLease("late");
      AtomicBoolean joined = new AtomicBoolean();
      CyclicBarrier start = new CyclicBarrier(2);
      Thread joiner =
          new Thread(
              () -> {
                await(start);
                joined.set(hold.joins(2, null, late));
              });
      joiner.start();
      await(start);
      hold.release();
      joiner.join();

      assertTrue(!joined.get() || late.releases.get() == 1, "round " + round + ": it stays held");
      a.becomes(State.HELD);
      b.becomes(State.HELD);
    }
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
