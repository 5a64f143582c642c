package io.mortise.core.spi;

import io.mortise.scripts.ScriptCall;
import java.util.Optional;

/**
 * A {@link LockProtocol} that promises no order between waiters, so that the client may hand a hold
 * from thread to thread without a command to Redis, as {@link
 * io.mortise.core.LockTuning#maxHandOffs} allows. Other clients go first afterwards. A hold that an
 * acquisition of its owner depends on is not handed off, see {@link CallerAwareProtocol.Caller}.
 *
 * <p><b>Threads.</b> As {@link LockProtocol}.
 */
public interface TransferableProtocol extends LockProtocol {

  /** Returns the protocol as one with this ability; empty when it has none. */
  static Optional<TransferableProtocol> of(LockProtocol protocol) {
    return protocol instanceof TransferableProtocol transferable && transferable.allowsHandOff()
        ? Optional.of(transferable)
        : Optional.empty();
  }

  /** Returns whether the holds of a protocol may be handed off. */
  static boolean isTransferable(LockProtocol protocol) {
    return protocol instanceof TransferableProtocol transferable && transferable.allowsHandOff();
  }

  /** Returns whether its holds may be handed off: false for the fair lock of a family. */
  default boolean allowsHandOff() {
    return true;
  }

  @Override
  default ScriptCall acquire(String holder, long leaseMillis, boolean waits) {
    return acquire(holder, leaseMillis, waits, 1);
  }

  /**
   * As {@link #acquire(String, long, boolean)}, but reserves several fencing tokens: the one in the
   * reply and those that follow it.
   */
  ScriptCall acquire(String holder, long leaseMillis, boolean waits, int tokens);
}
