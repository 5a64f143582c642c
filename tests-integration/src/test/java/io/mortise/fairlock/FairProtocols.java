package io.mortise.fairlock;

import io.mortise.core.LockOptions;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.WaiterTimeout;
import java.time.Duration;

/** Gives tests the protocol of a fair lock. */
public final class FairProtocols {
  private FairProtocols() {}

  public static LockProtocol of(String name) {
    return new FairLockProtocol(
        new LockName(name), LockOptions.defaults(), new WaiterTimeout(Duration.ofMinutes(1)));
  }
}
