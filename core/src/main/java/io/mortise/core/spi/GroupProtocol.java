package io.mortise.core.spi;

import io.mortise.scripts.ScriptCall;
import java.util.Optional;

/**
 * A {@link LockProtocol} with a script that acquires several locks of its kind, all or none, and
 * perhaps one that releases several.
 *
 * <p><b>Threads.</b> As {@link LockProtocol}.
 */
public interface GroupProtocol extends LockProtocol {

  /** Returns the protocol as one with this ability; empty when it has none. */
  static Optional<GroupProtocol> of(LockProtocol protocol) {
    return protocol instanceof GroupProtocol group ? Optional.of(group) : Optional.empty();
  }

  /**
   * Returns an attempt as one item of the script. Its reply for all of them: 1, their fencing
   * token, and the last token before it; or 0, the first busy lock, counted from 1, and its
   * remaining lease in ms.
   */
  ScriptCall acquireTogether(String holder, long leaseMillis);

  /**
   * Returns a release as one item of the script that releases several, with one reply for each;
   * empty when there is no such script for it. That script releases all, or fails and releases
   * none.
   *
   * @param release what {@link #release} or {@link #keep} has returned
   */
  Optional<ScriptCall> releaseTogether(ScriptCall release);
}
