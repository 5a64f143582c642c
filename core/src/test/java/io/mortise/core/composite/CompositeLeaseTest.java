package io.mortise.core.spi;

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
import io.mortise.core.LockException;
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

/** Where a hold stands that is made of others, and who may join it. */
@Timeout(60)
class JointLeaseTest {
  private final FakeSource source = new FakeSource("joint");
  private final FakeLease a = new FakeLease("a");
  private final FakeLease b = new FakeLease("b");
  private final FakeLease c = new FakeLease("c");
  private final List<Object> told = new ArrayList<>();

  private FakeJoint listening(FakeJoint joint) {
    joint.onStateChange(told::add);
    joint.onLost(loss -> told.add(loss.reason()));
    return joint;
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
  void itStandsWhileAsManyAsAreRequiredDo(String states, int required, State expected) {
    FakeLease[] members =
        Arrays.stream(states.split(" ", -1))
            .map(state -> new FakeLease("m", State.valueOf(state)))
            .toArray(FakeLease[]::new);
    FakeJoint joint = FakeJoint.of(source, required, members);

    assertEquals(expected, joint.state());
    assertEquals(expected != State.LOST, joint.isValid());
    assertEquals(expected == State.LOST ? 1 : 0, joint.lost.get());
  }

  @Test
  void itIsSureForAsLongAsTheWeakestOfTheStrongestIs() {
    a.remaining = Duration.ofSeconds(7);
    b.remaining = Duration.ofSeconds(3);
    c.remaining = Duration.ofSeconds(5);

    assertEquals(Duration.ofSeconds(3), FakeJoint.of(source, 3, a, b, c).remaining());
    FakeJoint two = FakeJoint.of(source, 2, a, b, c);
    assertEquals(Duration.ofSeconds(5), two.remaining());
    a.lose();
    assertEquals(Duration.ofSeconds(3), two.remaining());
    b.lose();
    assertEquals(Duration.ZERO, two.remaining());
    assertEquals(Duration.ZERO, FakeJoint.of(source, 1, a, b).remaining());
  }

  @Test
  void riskAndLossAreToldOnceAndInOrder() {
    FakeJoint joint = listening(FakeJoint.of(source, 2, a, b, c));

    a.becomes(State.AT_RISK);
    a.tell();
    assertEquals(0, source.submitted.size(), "two are on time still");
    b.becomes(State.AT_RISK);
    b.tell();
    b.becomes(State.HELD);
    b.tell();
    a.lose();
    c.lose();
    c.tell();
    joint.state();
    source.work();

    assertEquals(List.of(State.AT_RISK, State.HELD, State.LOST, Reason.EXPIRED), told);
    assertEquals(1, joint.lost.get());
    joint.onLost(loss -> told.add("late"));
    assertEquals("late", told.get(4), "whoever comes later is told at once");
  }

  @Test
  void theLossOfTheLastOneDecidesAndAllThatAreMissingAreNamed() {
    long now = System.nanoTime();
    FakeJoint joint = FakeJoint.of(source, 2, a, b, c);
    b.loses(Reason.FORCED, now);
    a.loses(Reason.MISSING, now - 1_000);

    LeaseLoss loss = joint.loss().orElseThrow();

    assertEquals(Reason.FORCED, loss.reason());
    assertEquals(now, loss.atNanos());
    assertEquals("joint", loss.lockName());
    assertEquals(
        "the hold is lost: of 3 members 2 must stand, and these do not: 'a': detail of a; 'b':"
            + " detail of b",
        loss.detail());
    assertSame(loss, assertThrows(LeaseLostException.class, joint::ensureValid).loss());
  }

  @Test
  void aMemberThatWasReleasedBehindItsBackIsALossToo() {
    FakeJoint joint = FakeJoint.of(source, 2, a, b);
    b.release();

    LeaseLoss loss = joint.loss().orElseThrow();

    assertEquals(Reason.MISSING, loss.reason());
    assertTrue(loss.detail().endsWith("'b': it was released by itself"), loss.detail());
  }

  @Test
  void aLostHoldIsNotRevivedByItsMembers() {
    FakeJoint joint = FakeJoint.of(source, 2, a, b);
    a.becomes(State.RELEASED);
    assertEquals(State.LOST, joint.state());

    a.becomes(State.HELD);

    assertEquals(State.LOST, joint.state());
    assertEquals(1, joint.lost.get());
  }

  @Test
  void aMemberThatIsLostWhileTheHoldStandsIsReported() {
    FakeLease lostBefore = new FakeLease("before", State.LOST);
    FakeJoint joint = FakeJoint.of(source, 2, a, lostBefore, b, c);
    assertEquals(List.of("1 before"), joint.lostMembers);

    b.lose();
    assertEquals(List.of("1 before", "2 b"), joint.lostMembers);
    c.lose();
    assertEquals(List.of("1 before", "2 b"), joint.lostMembers, "that one was all of it");
    assertEquals(1, joint.lost.get());
    assertEquals(1, joint.valid());
  }

  @Test
  void whenTooFewCanBeLengthenedTheOthersAreAsTheyWere() {
    LeaseTerms given = LeaseTerms.of(source.options(), Duration.ZERO, Duration.ofSeconds(5), true);
    FakeJoint joint = FakeJoint.of(source, 2, a, b, c);
    joint.setRenewed(false);
    b.failing(new LockException(LockException.Reason.UNREACHABLE, "on purpose", null));
    c.failing(b.failure);
    LeaseTerms renewed = LeaseTerms.of(source.options(), Duration.ZERO, null, true);

    assertThrows(LockException.class, () -> joint.extendTo(renewed));

    assertEquals(List.of(renewed), a.needed);
    assertEquals(List.of(false, false), a.renewed, "what it has agreed to is taken back");
    assertFalse(joint.isRenewed());
    c.failing(null);
    joint.extendTo(renewed);
    assertTrue(joint.isRenewed());
    assertThrows(LockException.class, () -> FakeJoint.of(source, 3, a, b, c).extendTo(given));
  }

  @Test
  void membersThatOutliveItAreNotLookedAfterAnyMore() {
    FakeJoint joint = FakeJoint.of(source, 2, a, b);
    assertEquals(1, a.listeners());
    joint.release();
    assertEquals(0, a.listeners() + b.listeners());
  }

  @Test
  void whenThereIsNoThreadTheLossIsToldLaterAndWhenThereIsNoneAnyMoreAtOnce() {
    FakeJoint joint = listening(FakeJoint.of(source, 1, a));
    joint.onLoss =
        () -> {
          var unused = source.submit(() -> told.add("given back"));
        };
    source.withoutThreads = true;
    a.lose();
    assertEquals(State.LOST, joint.state());
    assertEquals(List.of(), told);
    source.withoutThreads = false;
    source.scheduled.forEach(Runnable::run);
    source.work();
    assertEquals(List.of(State.LOST, Reason.EXPIRED, "given back"), told);

    told.clear();
    listening(FakeJoint.of(source, 1, b));
    source.closed = true;
    b.lose();
    assertEquals(List.of(State.LOST, Reason.EXPIRED), told);
  }

  // ---- joining

  private FakeJoint withAHole() {
    return new FakeJoint(source, 2, null, Arrays.asList(a, b, null));
  }

  @Test
  void whoJoinsCountsAndIsLookedAfter() {
    FakeJoint joint = withAHole();
    assertEquals(2, joint.valid());

    assertTrue(joint.joins(2, null, c));

    assertEquals(3, joint.valid());
    a.lose();
    assertEquals(State.HELD, joint.state());
    c.lose();
    assertEquals(List.of("0 a"), joint.lostMembers);
    assertEquals(State.LOST, joint.state());
  }

  @Test
  void whoJoinsWhenItIsLostAlreadyIsReported() {
    FakeJoint joint = withAHole();

    assertTrue(joint.joins(2, null, new FakeLease("late", State.LOST)));

    assertEquals(List.of("2 late"), joint.lostMembers);
    assertEquals(State.HELD, joint.state());
  }

  @Test
  void aPlaceIsTakenOnlyFromWhomIsExpectedThere() {
    FakeJoint joint = withAHole();

    assertFalse(joint.joins(0, null, c), "somebody is there");
    assertFalse(joint.joins(2, a, c), "somebody else is expected");
    assertSame(a, joint.at(0));
    assertNull(joint.at(2));
    assertTrue(joint.joins(2, null, c));
    FakeLease d = new FakeLease("d");
    assertTrue(joint.joins(0, a, d));
    assertSame(d, joint.at(0));
  }

  @Test
  void aMajorityThatIsOverUnseenIsNotMadeWhole() {
    FakeJoint joint = withAHole();
    a.loses(Reason.EXPIRED, System.nanoTime()); // and nobody has looked

    assertFalse(joint.joins(2, null, c), "others may have had it meanwhile");

    assertEquals(State.LOST, joint.state());
    assertNull(joint.at(2));
  }

  @Test
  void nobodyJoinsWhatHasEnded() {
    FakeJoint released = withAHole();
    released.beforeGivingBack = () -> assertFalse(released.joins(2, null, c), "being released");
    released.close();
    assertFalse(released.joins(2, null, c), "released");
    assertNull(released.at(2));
    assertEquals(0, c.releases.get(), "its caller keeps it");

    FakeJoint lost = FakeJoint.of(source, 2, c, new FakeLease("d", State.LOST));
    assertEquals(State.LOST, lost.state());
    assertFalse(lost.joins(1, lost.at(1), a));
  }

  @Test
  void whoJoinsWhileTheHoldIsReleasedIsGivenBackByOneOfTheTwo() throws Exception {
    for (int round = 0; round < 2_000; round++) {
      FakeJoint joint = withAHole();
      FakeLease late = new FakeLease("late");
      AtomicBoolean joined = new AtomicBoolean();
      CyclicBarrier start = new CyclicBarrier(2);
      Thread joiner =
          new Thread(
              () -> {
                await(start);
                joined.set(joint.joins(2, null, late));
              });
      joiner.start();
      await(start);
      joint.release();
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
