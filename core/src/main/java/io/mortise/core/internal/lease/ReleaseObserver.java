package io.mortise.core.internal.lease;

import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.TransferableProtocol;
import org.jspecify.annotations.Nullable;

/**
 * Observes the attempts, and the releases of locks whose holds are handed off, so that other
 * clients may acquire first.
 *
 * <p><b>Threads.</b> Called by any thread that acquires or releases.
 */
public interface ReleaseObserver {

  /**
   * Called after Redis has answered the release.
   *
   * @param receivers the number of connections that received a message
   * @param notified the holder that was notified alone, or null
   */
  void released(
      TransferableProtocol protocol, String holder, long receivers, @Nullable String notified);

  /**
   * Called after Redis has answered an attempt: the lock was held then.
   *
   * @param sentNanos the time before the attempt was sent
   */
  void attempted(LockProtocol protocol, long sentNanos);
}
