package io.mortise.it.support;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The losses that a lease reports to a listener. Keeps the lease from being collected. */
public final class ReportedLosses {
  private final Lease lease;
  private final BlockingQueue<LeaseLoss> losses = new LinkedBlockingQueue<>();

  private ReportedLosses(Lease lease) {
    this.lease = lease;
  }

  /** Listens to the lease. */
  public static ReportedLosses of(Lease lease) {
    ReportedLosses reported = new ReportedLosses(lease);
    lease.onLost(reported.losses::add);
    return reported;
  }

  /** Waits for the next loss; fails if none is reported in that time. */
  public LeaseLoss await(Duration within) throws InterruptedException {
    LeaseLoss loss = losses.poll(within.toMillis(), TimeUnit.MILLISECONDS);
    assertNotNull(
        loss, () -> "'%s': no loss is reported within %s".formatted(lease.lockName(), within));
    return loss;
  }
}
