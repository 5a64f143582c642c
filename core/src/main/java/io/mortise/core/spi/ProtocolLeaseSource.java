package io.mortise.core.spi;

import io.mortise.core.LockClient;
import io.mortise.core.internal.engine.RedisLeaseSource;
import io.mortise.scripts.ScriptCall;
import java.util.List;
import java.util.Objects;

/** The leases that the engine makes of a {@link LockProtocol}: where every lock family begins. */
public interface ProtocolLeaseSource extends LeaseSource {

  /**
   * The leases of that protocol, by that client. Equal protocols are those of one kind and name.
   */
  static ProtocolLeaseSource of(LockClient client, LockProtocol protocol) {
    return RedisLeaseSource.of(
        Objects.requireNonNull(client, "client"), Objects.requireNonNull(protocol, "protocol"));
  }

  /**
   * Asks Redis something that only this family can be asked.
   *
   * @return the answer: integers are {@code Long}, arrays are {@code List}
   * @throws io.mortise.core.LockException if Redis cannot be used
   */
  Object query(ScriptCall call);

  /**
   * The holder ids under which threads of this client wait for this lock in a queue in Redis, in
   * the order in which they asked.
   */
  List<String> waitingHolders();
}
