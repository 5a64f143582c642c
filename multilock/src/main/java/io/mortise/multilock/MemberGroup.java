package io.mortise.multilock;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.core.spi.LeaseSource;
import java.util.ArrayList;
import java.util.List;

/**
 * The members that one command acquires together.
 *
 * <p>The command has a maximum size, because writing has no time limit: a suspended server reads
 * nothing, and a write of more than the buffers of both sockets hold would block its caller beyond
 * every wait.
 *
 * <p><b>Threads.</b> Stateless; any thread may call it.
 */
final class MemberGroup {
  /** The maximum size of a command; a single member may be longer. */
  private static final int MAX_BYTES = 16 * 1024;

  /** What a member takes beside its name: the holder, the times, and the framing. */
  private static final int FIXED_BYTES = 160;

  /** The key of the lock has its name, and that of its token. */
  private static final int NAMES = 2;

  private MemberGroup() {}

  /**
   * Returns the first missing member, and those that one command can acquire with it; in their
   * order, and empty if the first one cannot be acquired in that way.
   *
   * @param missing the places of the missing members
   */
  static List<Integer> ofFirst(List<LeaseSource> members, List<Integer> missing) {
    LeaseSource first = members.get(missing.get(0));
    List<Integer> group = new ArrayList<>();
    int roomBytes = MAX_BYTES;
    for (int place : missing) {
      LeaseSource member = members.get(place);
      if (first.canAcquireTogetherWith(member)) {
        roomBytes -= FIXED_BYTES + NAMES * member.name().getBytes(UTF_8).length;
        if (roomBytes < 0 && !group.isEmpty()) {
          break;
        }
        group.add(place);
      }
    }
    return group;
  }
}
