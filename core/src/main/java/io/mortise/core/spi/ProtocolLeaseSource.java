package io.mortise.core.spi;

import io.mortise.core.LockClient;
import io.mortise.core.internal.engine.RedisLeaseSource;
import io.mortise.scripts.ScriptCall;
import java.util.List;
import java.util.Objects;

/**
 * The source of leases of one {@link LockProtocol} with one client, on which every lock family is
 * built.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 */
public interface ProtocolLeaseSource extends LeaseSource {

  /**
   * Returns the source of that protocol with that client. Protocols of one kind and name are equal.
   */
  static ProtocolLeaseSource of(LockClient client, LockProtocol protocol) {
    return RedisLeaseSource.of(
        Objects.requireNonNull(client, "client"), Objects.requireNonNull(protocol, "protocol"));
  }

  /**
   * Sends a question that only this family answers.
   *
   * @return the reply: integers are {@code Long}, arrays are {@code List}
   * @throws io.mortise.core.LockException if Redis cannot be used
   */
  Object query(ScriptCall call);

  /**
   * Returns the holder ids under which threads of this client wait for this lock in a queue in
   * Redis, in no order: an id may be older than its acquisition, and a waiter may have joined
   * again.
   */
  List<String> waitingHolders();
}
