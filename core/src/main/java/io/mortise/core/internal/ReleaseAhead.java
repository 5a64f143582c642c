package io.mortise.core.internal;

import io.mortise.core.spi.InFlight;
import io.mortise.core.spi.OwnedLease;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A release whose command is sent before anybody waits for the answer; otherwise as in {@link
 * LeaseHandle#release}.
 */
public final class ReleaseAhead implements InFlight<Boolean> {
  private final LeaseHandle lease;

  /** Whether there is an answer to be awaited; then the release is this one's to end. */
  private boolean asks;

  private @Nullable Sent sent;

  private ReleaseAhead(LeaseHandle lease) {
    this.lease = lease;
  }

  /** Begins to release; empty if the hold is of another kind. */
  public static Optional<InFlight<Boolean>> of(OwnedLease lease) {
    if (!(lease instanceof LeaseHandle handle)) {
      return Optional.empty();
    }
    ReleaseAhead release = new ReleaseAhead(handle);
    if (handle.end().begin()) {
      release.begin();
    }
    return Optional.of(release);
  }

  private void begin() {
    try {
      if (!lease.end().handOver(lease.engine().releases()::soon)) {
        sent = lease.engine().commands().send(lease.releaseCall());
        asks = true;
      }
    } finally {
      if (!asks) {
        lease.end().finish();
      }
    }
  }

  @Override
  public boolean isSent() {
    return !asks || sent != null;
  }

  @Override
  public boolean hasArrived() {
    return !asks || (sent != null && sent.hasArrived());
  }

  @Override
  public Boolean await() {
    if (asks) {
      asks = false;
      Sent first = sent;
      try {
        Reply reply =
            first == null ? lease.engine().commands().run(lease.releaseCall()) : first.receive();
        lease.end().answered(reply);
      } catch (Fault fault) {
        throw lease.end().failed(fault);
      } finally {
        lease.end().finish();
      }
    }
    lease.release(); // it is; this tells if it was lost
    return true;
  }
}
