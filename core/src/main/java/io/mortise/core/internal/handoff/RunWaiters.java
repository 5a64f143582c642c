package io.mortise.core.internal.handoff;

import io.mortise.core.spi.RunProtocol;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The acquisitions of one client that wait in queues in Redis and can use a hold of a run, by
 * holder id.
 *
 * <p><b>Threads.</b> Any thread may call any method. An acquisition is added before its first
 * attempt and removed at its end. So one that has a place in Redis and is not here has ended, or
 * cannot use such a hold.
 */
public final class RunWaiters {
  private final Map<String, RunWaiter> waiters = new ConcurrentHashMap<>();

  void add(String holder, RunWaiter waiter) {
    waiters.put(holder, waiter);
  }

  void remove(String holder) {
    waiters.remove(holder);
  }

  /** Returns the next waiter of the run; null when there is none, or it has left. */
  @Nullable RunWaiter next(RunProtocol protocol) {
    List<String> run = protocol.run();
    return protocol.served() < run.size() ? waiters.get(run.get(protocol.served())) : null;
  }

  int size() {
    return waiters.size();
  }
}
