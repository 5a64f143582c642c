package io.mortise.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.spi.OwnedLease;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The decision of a round by its votes. */
class VoteCountTest {

  /** Grants that remember a token (m) or none (g), refusals (r), failures (f), no replies (-). */
  private static VoteCount count(String votes) {
    return new VoteCount(
        votes.length(),
        howMany(votes, "gm"),
        howMany(votes, "r"),
        howMany(votes, "-"),
        howMany(votes, "m"));
  }

  private static int howMany(String votes, String kinds) {
    return (int) votes.chars().filter(vote -> kinds.indexOf(vote) >= 0).count();
  }

  @ParameterizedTest(name = "{0}: {1}, decided {2}")
  @CsvSource({
    "gg-, won, true", // the name is new
    "g--, lost, false",
    "gm-, won, false", // the node that remembers a token may not remember the last
    "mm-, won, true",
    "ggm, won, false", // one of three may have lost its data
    "mmggg, won, false",
    "mmmgg, won, true", // any three of five include one that remembers the last token
    "gr-, lost, false",
    "grr, lost, true",
    "rr-, lost, true", // whatever the last one replies
    "ff-, lost, true", // one reply changes neither the result nor its reason
    "fff, lost, true",
    "gff, lost, true",
    "grf, lost, true",
    "grf--, lost, false",
    "gg---, lost, false",
    "rrr--, lost, true",
    "gfff-, lost, true",
    "grff-, lost, false", // the last reply decides whether others hold the lock
    "gffff, lost, true",
    "rr--, lost, true", // of four three are needed
    "gr--, lost, false",
  })
  void aRoundIsDecidedWhenPendingRepliesCannotChangeItsResult(
      String votes, String result, boolean decided) {
    assertEquals(result.equals("won"), count(votes).isWon());
    assertEquals(decided, count(votes).isDecided());
  }

  @ParameterizedTest(name = "{0}: held by others {1}, holder {2}")
  @CsvSource({
    "rr-, true, true",
    "grf, true, false", // the votes are split: two nodes have answered
    "rff, false, false",
    "gff, false, false",
    "fff, false, false",
    "rrrff, true, true",
    "grrff, true, false",
    "rrfff, false, false",
    "rrff, true, false", // of four nodes two are no majority, so the others cannot have one
  })
  void aLostRoundIsHeldByOthersOrHasTooFewAnswers(
      String votes, boolean heldByOthers, boolean holder) {
    assertEquals(heldByOthers, count(votes).isHeldByOthers());
    assertEquals(holder, count(votes).hasHolder());
  }

  @Test
  void repliesAreCounted() {
    List<@Nullable NodeReply<Optional<OwnedLease>>> replies = new ArrayList<>();
    replies.add(new NodeReply<>(Optional.of(new FakeNodeLease("a")), null));
    replies.add(new NodeReply<>(Optional.empty(), null));
    replies.add(new NodeReply<>(null, new IllegalStateException("on purpose")));
    replies.add(null);

    assertEquals(new VoteCount(4, 1, 1, 1, 0), VoteCount.of(replies));
  }

  @ParameterizedTest(name = "{0} with {1}: {2}")
  @CsvSource({
    "gff, UNREACHABLE NOT_READY, UNREACHABLE",
    "fff, ACCESS_DENIED UNREACHABLE NOT_READY, UNREACHABLE", // two may still grant
    "fff, UNREACHABLE ACCESS_DENIED SCRIPT, ACCESS_DENIED", // one cannot win alone
    "gff, ACCESS_DENIED UNREACHABLE, UNREACHABLE",
    "rff, UNREACHABLE ACCESS_DENIED, ACCESS_DENIED",
    "fff, SCRIPT ACCESS_DENIED WRONG_TYPE, SCRIPT",
  })
  void theFailureIsTransientWhileEnoughNodesMayStillGrant(
      String votes, String reasons, Reason expected) {
    List<RuntimeException> failures = new ArrayList<>();
    for (String reason : reasons.split(" ", -1)) {
      failures.add(new LockException(Reason.valueOf(reason), reason, null));
    }

    LockException failure = count(votes).failure("orders", failures);

    assertEquals(expected, failure.reason());
    assertEquals(failures.size() - 1, failure.getSuppressed().length);
    String fact = "lock 'orders': no majority of 3 nodes, 2 are needed: ";
    assertTrue(failure.getMessage().startsWith(fact), failure.getMessage());
  }
}
