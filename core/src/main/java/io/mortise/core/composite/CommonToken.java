package io.mortise.core.composite;

import io.mortise.core.spi.OwnedLease;
import java.util.Collection;

/**
 * The fencing token of a hold that is composed of other holds. It must be larger than every token
 * that the members remember, and each member must remember it.
 *
 * <p>If the smallest of their tokens is larger than all remembered ones, each member already
 * remembers at least that token. This is the case when the servers' clocks differ by less than the
 * time since the last holder of any member. Otherwise the result is the largest of their tokens,
 * and members with a smaller one have to be {@link OwnedLease#raiseToken raised}.
 *
 * <p>The result is also the largest when some members remember a holder and others none. Those
 * others may have forgotten a later holder, and then only their own token, taken from their clock,
 * is larger than that holder's.
 *
 * <p>A member that the owner held before the others has a token that the owner may have used. The
 * result is not smaller, or a resource would refuse the owner's next write. Example: server 1's
 * clock is ahead of server 2's, and a thread that holds a lock of server 1 with token 70 acquires
 * it together with one of server 2, whose token is 50. The result is 70, whatever both remember.
 *
 * <p><b>Threads.</b> Stateless; any thread may call it.
 */
public final class CommonToken {
  private CommonToken() {}

  /** Returns the token of a hold that is composed of these members, at least one. */
  public static long of(Collection<? extends OwnedLease> members) {
    return of(members, 0);
  }

  /**
   * As {@link #of(Collection)}, but not smaller than a token that the owner may have used before.
   *
   * @param used the largest token of the members that the owner held before; 0 if there was none
   */
  public static long of(Collection<? extends OwnedLease> members, long used) {
    long least = members.stream().mapToLong(OwnedLease::fencingToken).min().orElseThrow();
    long last = members.stream().mapToLong(OwnedLease::lastToken).max().orElseThrow();
    long remembering = members.stream().filter(member -> member.lastToken() > 0).count();
    boolean alike = remembering == 0 || remembering == members.size();
    return alike && least > last && least >= used
        ? least
        : members.stream().mapToLong(OwnedLease::fencingToken).max().orElseThrow();
  }
}
