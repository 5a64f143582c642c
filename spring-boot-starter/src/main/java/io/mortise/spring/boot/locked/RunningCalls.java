package io.mortise.spring.boot.locked;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

/**
 * The calls of locked methods that have begun and not ended. An application that shuts down waits
 * for them before it closes the client, which would free their locks: executors with virtual
 * threads do not wait for their tasks. Spring bounds the wait by its timeout of a shutdown phase.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 */
public final class RunningCalls implements SmartLifecycle {
  /** Stops after the web server and the executors, and before connections to data stores. */
  static final int PHASE = Integer.MAX_VALUE / 4;

  private final AtomicInteger calls = new AtomicInteger();
  private final AtomicReference<@Nullable Runnable> stopping = new AtomicReference<>();
  private volatile boolean started;

  void begin() {
    calls.incrementAndGet();
  }

  void end() {
    if (calls.decrementAndGet() == 0) {
      stopped();
    }
  }

  @Override
  public void start() {
    started = true;
  }

  /** Does not wait; Spring calls the other method. */
  @Override
  public void stop() {
    started = false;
  }

  /** Calls back when no call runs any more. */
  @Override
  public void stop(Runnable callback) {
    stop();
    stopping.set(callback);
    if (calls.get() == 0) {
      stopped();
    }
  }

  private void stopped() {
    Runnable callback = stopping.getAndSet(null);
    if (callback != null) {
      callback.run();
    }
  }

  @Override
  public boolean isRunning() {
    return started;
  }

  @Override
  public int getPhase() {
    return PHASE;
  }
}
