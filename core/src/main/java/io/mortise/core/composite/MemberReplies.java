package io.mortise.core.composite;

import io.mortise.core.spi.OwnedLease;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The replies of members to one request.
 *
 * @param done the number of members that completed it
 * @param failures the failures of the others
 */
public record MemberReplies(int done, List<RuntimeException> failures) {

  /** Runs an action on the members, one after the other. */
  public static MemberReplies inTurn(List<OwnedLease> members, Consumer<OwnedLease> action) {
    List<RuntimeException> failures = new ArrayList<>();
    for (OwnedLease member : members) {
      try {
        action.accept(member);
      } catch (RuntimeException e) {
        failures.add(e);
      }
    }
    return new MemberReplies(members.size() - failures.size(), failures);
  }

  /** Returns how many members were found not to be held any more. */
  long missing() {
    return failures.stream().filter(IllegalMonitorStateException.class::isInstance).count();
  }
}
