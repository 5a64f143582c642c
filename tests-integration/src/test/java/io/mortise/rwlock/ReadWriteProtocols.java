package io.mortise.rwlock;

import io.mortise.core.LockOptions;
import io.mortise.core.spi.CallerAwareProtocol.CallerHold;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.WaiterTimeout;
import java.time.Duration;

/** Gives tests the protocols of a read-write lock. */
public final class ReadWriteProtocols {
  private ReadWriteProtocols() {}

  private static ReadWriteKeys keys(String name, boolean fair) {
    return new ReadWriteKeys(
        new LockName(name), LockOptions.defaults(), fair, new WaiterTimeout(Duration.ofMinutes(1)));
  }

  public static LockProtocol reader(String name, boolean fair) {
    return new ReadLockProtocol(keys(name, fair));
  }

  /** The protocol of a reader whose thread has the write lock too. */
  public static LockProtocol readerBelow(String writer, String name, boolean fair) {
    return readerBelow(new CallerHold(writer, 7, -1), name, fair);
  }

  /** The same, below a write hold with those tokens. */
  public static LockProtocol readerBelow(CallerHold writer, String name, boolean fair) {
    return new ReadLockProtocol(keys(name, fair), writer);
  }

  public static LockProtocol writer(String name, boolean fair) {
    return new WriteLockProtocol(keys(name, fair));
  }
}
