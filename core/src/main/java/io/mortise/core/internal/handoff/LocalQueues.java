package io.mortise.core.internal.handoff;

import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * The gates in use, by lock. A gate is there while a thread waits at it or a hold has its permit.
 */
public final class LocalQueues implements AutoCloseable {
  /** More than any number of threads, so that a closing client leaves nobody in a line. */
  private static final int OPEN = 1 << 20;

  private final ConcurrentHashMap<String, LocalQueue> gates = new ConcurrentHashMap<>();
  private final LongSupplier nanos;

  public LocalQueues(LongSupplier nanos) {
    this.nanos = nanos;
  }

  /** The gate of a lock; to be given back by {@link #leave}. */
  LocalQueue join(String lock) {
    return gates.compute(
        lock,
        (id, present) -> {
          LocalQueue gate = present == null ? new LocalQueue(nanos) : present;
          gate.users++;
          return gate;
        });
  }

  /** Gives the gate back, and the permit with it if the caller has it. */
  void leave(String lock, LocalQueue gate, boolean withPermit) {
    if (withPermit) {
      gate.release();
    }
    gates.computeIfPresent(lock, (id, present) -> --present.users == 0 ? null : present);
  }

  public int size() {
    return gates.size();
  }

  @Override
  public void close() {
    gates.values().forEach(gate -> gate.releaseAll(OPEN));
  }
}
