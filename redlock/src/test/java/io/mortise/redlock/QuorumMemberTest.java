package io.mortise.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a member says about its node. */
class QuorumMemberTest {
  private static final String LOAD =
      "; look at the load of the node and at the network, or set a longer nodeWaitBudget";

  private static final String REMEDY =
      ", which is short; a longer nodeWaitBudget, or by default a longer lease, gives it more time";

  /** A lease of 1 ms has a budget of 250 us. */
  @ParameterizedTest
  @CsvSource({"1, 0.25", "2, 0.5", "100, 25", "400, 50", "30000, 300"})
  void aMissingReplyNamesTheBudgetAsItIs(long leaseMillis, String budget) {
    QuorumMember member = QuorumMember.of(new FakeNode("a:1"));
    long nanos = new QuorumMembers(List.of(member), null).budgetNanos(leaseMillis);

    assertEquals(
        member
            + ": did not answer within its budget of "
            + budget
            + " ms"
            + (leaseMillis < 200 ? REMEDY : LOAD),
        member.noReply(nanos).getMessage());
  }
}
