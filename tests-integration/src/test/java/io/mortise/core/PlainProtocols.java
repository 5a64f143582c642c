package io.mortise.core;

import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;

/** Gives tests the protocol of a plain lock. */
public final class PlainProtocols {
  private PlainProtocols() {}

  public static LockProtocol of(String name) {
    return new PlainLockProtocol(new LockName(name), LockOptions.defaults());
  }
}
