package io.mortise.fairlock;

import io.mortise.core.LockOptions;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.RunProtocol;
import io.mortise.core.spi.WaiterTimeout;
import io.mortise.scripts.ScriptCall;
import java.time.Duration;
import java.util.List;

/** Gives tests the protocol of a fair lock. */
public final class FairProtocols {
  private FairProtocols() {}

  public static LockProtocol of(String name) {
    return protocol(name);
  }

  /** Returns the protocol of a hold with a run of that waiter, who may have been served. */
  public static LockProtocol ofHold(String name, String waiter, int served) {
    RunProtocol granted =
        (RunProtocol) protocol(name).granted(List.of(1L, 1L, 0L, ScriptCall.bytes(waiter)));
    return served == 0 ? granted : granted.servingNext();
  }

  private static FairLockProtocol protocol(String name) {
    return new FairLockProtocol(
        new LockName(name), LockOptions.defaults(), new WaiterTimeout(Duration.ofMinutes(1)));
  }
}
