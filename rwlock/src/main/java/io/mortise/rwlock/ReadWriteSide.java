package io.mortise.rwlock;

import io.mortise.core.LockClient;
import io.mortise.core.spi.LeaseBackedLock;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.ProtocolLeaseSource;
import io.mortise.scripts.ScriptCall;
import java.util.List;

/**
 * The read lock or the write lock of a read-write lock.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 */
final class ReadWriteSide extends LeaseBackedLock {
  private final ProtocolLeaseSource source;

  ReadWriteSide(LockClient client, LockProtocol protocol) {
    this(ProtocolLeaseSource.of(client, protocol));
  }

  private ReadWriteSide(ProtocolLeaseSource source) {
    super(source);
    this.source = source;
  }

  /** Returns the holder ids of this side that wait in this client, in the order of their calls. */
  List<String> waitingHolders() {
    return source.waitingHolders();
  }

  /** Sends a query; returns the numbers of its reply. */
  @SuppressWarnings("unchecked")
  List<Long> query(ScriptCall call) {
    return (List<Long>) source.query(call);
  }
}
