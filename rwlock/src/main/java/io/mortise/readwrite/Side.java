package io.mortise.readwrite;

import io.mortise.core.LockClient;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.ProtocolLock;
import io.mortise.core.spi.ScriptCall;
import java.util.List;

/** The read lock, or the write lock, of a read-write lock. */
final class Side extends ProtocolLock {
  Side(LockClient client, LockProtocol protocol) {
    super(client, protocol);
  }

  /** The first place of an answer. */
  long first(ScriptCall call) {
    return (Long) ((List<?>) query(call)).get(0);
  }
}
