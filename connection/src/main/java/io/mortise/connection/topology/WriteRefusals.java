package io.mortise.connection.topology;

import java.util.concurrent.TimeUnit;

/**
 * Decides which refused write has the holds of the client verified: the first one after a reply,
 * but none within a second of the last verification. A replica answers commands that only read. So
 * where some commands read and others write, each refusal could be the first after a reply, and the
 * verification, which may be refused too, would cause the next one.
 *
 * <p><b>Threads.</b> Any thread may report the outcome of a command. Two that report at the same
 * moment may both have the holds verified.
 */
final class WriteRefusals {
  static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Whether the last reply refused to write: the server is a replica. */
  private volatile boolean refused;

  private volatile boolean everVerified;
  private volatile long verifiedNanos;

  void answered() {
    if (refused) {
      refused = false;
    }
  }

  /** Notes a refused write; the holds are verified, after an error at the next refusal. */
  void refused(long nowNanos, Runnable verification) {
    if (!refused && (!everVerified || nowNanos - verifiedNanos >= PAUSE_NANOS)) {
      verification.run();
      verifiedNanos = nowNanos;
      everVerified = true;
      refused = true;
    }
  }
}
