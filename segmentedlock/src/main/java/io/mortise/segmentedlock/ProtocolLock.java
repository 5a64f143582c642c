package io.mortise.segmentedlock;

import io.mortise.core.LockClient;
import io.mortise.core.spi.LeaseBackedLock;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.ProtocolLeaseSource;
import io.mortise.scripts.ScriptCall;

/**
 * The lock of one protocol: one segment, or any.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 */
final class ProtocolLock extends LeaseBackedLock {
  private final ProtocolLeaseSource source;

  ProtocolLock(LockClient client, LockProtocol protocol) {
    this(ProtocolLeaseSource.of(client, protocol));
  }

  private ProtocolLock(ProtocolLeaseSource source) {
    super(source);
    this.source = source;
  }

  /** Sends a question that only this family answers. */
  Object query(ScriptCall call) {
    return source.query(call);
  }
}
