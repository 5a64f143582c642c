package io.mortise.core.internal;

import com.google.common.base.Ticker;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import java.util.concurrent.ThreadLocalRandom;

/**
 * What every hold of one client needs: made once, when the client is wired.
 *
 * @param operations acquisitions and releases that are under way count themselves here
 * @param holds all holds of the client
 * @param releases releases what may be held although nobody has it
 * @param observer learns of releases
 */
record LeaseContext(
    LockOptions options,
    Drift drift,
    Ticker ticker,
    Closing closing,
    Underway operations,
    Commands commands,
    Batches batches,
    Scheduler scheduler,
    BackgroundTasks tasks,
    HoldRegistry holds,
    Releases releases,
    ReleaseObserver observer) {

  /** What two protocols of one lock have in common. */
  static String idOf(LockProtocol protocol) {
    return idOf(protocol.kind(), protocol.name());
  }

  static String idOf(String kind, LockName name) {
    return kind + ":" + name.value();
  }

  long nanos() {
    return ticker.read();
  }

  double random() {
    return ThreadLocalRandom.current().nextDouble();
  }

  boolean isClosed() {
    return closing.isClosed();
  }

  void ensureOpen(LockName name) {
    if (closing.isClosed()) {
      throw new LockException(
          LockException.Reason.CLIENT_CLOSED, "lock '" + name + "': its client was closed", null);
    }
  }
}
