package io.mortise.rwlock;

import io.mortise.core.LockClient;
import io.mortise.core.spi.LeasedLock;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.ProtocolSource;
import io.mortise.core.spi.ScriptCall;
import java.util.List;

/** The read lock, or the write lock, of a read-write lock. */
final class Side extends LeasedLock {
  private final ProtocolSource source;

  Side(LockClient client, LockProtocol protocol) {
    this(ProtocolSource.of(client, protocol));
  }

  private Side(ProtocolSource source) {
    super(source);
    this.source = source;
  }

  /** The first place of an answer. */
  long first(ScriptCall call) {
    return (Long) ((List<?>) source.query(call)).get(0);
  }
}
