package io.mortise.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease.State;
import io.mortise.core.spi.OwnedLease;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A grant of a round, in time or late, is kept or released, and never forgotten. */
class GrantsTest {
  private static final long BUDGET_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final List<FakeNode> nodes = Stream.of("a:1", "b:1", "c:1").map(FakeNode::new).toList();
  private final QuorumMembers members =
      new QuorumMembers(nodes.stream().map(QuorumMember::of).toList(), null);
  private final FanOut<Optional<OwnedLease>> votes = members.fanOut(BUDGET_NANOS);
  private final Grants grants = new Grants(members, votes, BUDGET_NANOS);
  private final FakeNodeLease inTime = new FakeNodeLease("in time");
  private final FakeNodeLease late = new FakeNodeLease("late");
  private final FakeNodeLease later = new FakeNodeLease("later");

  @Test
  void aLateGrantIsKeptUntilTheHoldIsDecided() {
    grants.accept(2, Optional.of(late));

    assertTrue(late.isValid());
    assertEquals(1, grants.tokenIfRemembered(0));
    assertEquals(0, grants.tokenIfRemembered(1), "it remembers no such token");
  }

  @Test
  void aGrantIsTakenWhetherItComesBeforeTheVotesAreClosedOrAfterwards() {
    votes.answer(0, Optional.of(inTime));
    grants.closeVotes(false);
    votes.answer(2, Optional.of(late));

    assertEquals(Map.of(0, inTime, 2, late), grants.byPlace());
  }

  @Test
  void withoutAHoldAllGrantsAreReleased() {
    votes.answer(0, Optional.of(inTime));
    grants.closeVotes(false);
    grants.accept(2, Optional.of(late));

    grants.release(true);
    grants.accept(1, Optional.of(later));

    assertEquals(State.RELEASED, inTime.state());
    assertEquals(State.RELEASED, late.state());
    assertEquals(State.RELEASED, later.state());
  }

  @Test
  void aRefusalIsNoGrant() {
    votes.answer(0, Optional.empty());
    grants.closeVotes(false);
    grants.accept(2, Optional.empty());

    assertEquals(0, grants.tokenIfRemembered(0));
    assertEquals(Map.of(), grants.byPlace());
  }

  @Test
  void anErrorInOneReleaseDoesNotKeepTheOtherGrantsFromTheirs() {
    grants.accept(0, Optional.of(late));
    grants.accept(2, Optional.of(later));
    late.errorAtRelease = new OutOfMemoryError("on purpose");

    grants.release(false);

    assertEquals(State.RELEASED, later.state());
  }

  @Test
  void thatCannotBeReleasedIsNotRenewed() {
    votes.answer(0, Optional.of(inTime));
    grants.closeVotes(false);
    grants.accept(2, Optional.of(late));
    nodes.get(0).threads =
        task -> {
          throw new StackOverflowError("on purpose");
        };

    assertThrows(StackOverflowError.class, () -> grants.release(false));

    assertFalse(inTime.isRenewed());
    assertFalse(late.isRenewed());
  }
}
