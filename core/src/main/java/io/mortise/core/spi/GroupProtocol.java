package io.mortise.core.spi;

import io.mortise.scripts.ScriptCall;

/**
 * A {@link LockProtocol} with a script that acquires several locks of its kind, all or none.
 *
 * <p><b>Threads.</b> As {@link LockProtocol}.
 */
public interface GroupProtocol extends LockProtocol {

  /**
   * Returns an attempt as one item of the script. Its reply for all of them: 1, their fencing
   * token, and the last token before it; or 0, the first busy lock, counted from 1, and its
   * remaining lease in ms.
   */
  ScriptCall acquireTogether(String holder, long leaseMillis);
}
