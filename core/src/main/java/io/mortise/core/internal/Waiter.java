package io.mortise.core.internal;

import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.LockProtocol.Presence;
import io.mortise.core.spi.ScriptCall;

/** The signs of life of one acquisition that waits in a queue in Redis, sent in batches. */
final class Waiter implements Scheduler.Timed, Batches.Item, AutoCloseable {
  private final Engine engine;
  private final LockProtocol protocol;
  private final String holder;
  private final Presence sign;
  private final Signal wake;
  private volatile long dueNanos;

  /**
   * @param wake what the acquisition waits for
   */
  Waiter(Engine engine, LockProtocol protocol, String holder, Presence sign, Signal wake) {
    this.engine = engine;
    this.protocol = protocol;
    this.holder = holder;
    this.sign = sign;
    this.wake = wake;
    this.dueNanos = engine.nanos() + everyNanos();
    engine.scheduler().add(this);
  }

  LockProtocol protocol() {
    return protocol;
  }

  String holder() {
    return holder;
  }

  private long everyNanos() {
    return sign.everyMillis() * 1_000_000;
  }

  @Override
  public long dueNanos() {
    return dueNanos;
  }

  /** Of two waiters one is always within half a time of the other: all come to sign together. */
  @Override
  public long earliestNanos() {
    return dueNanos - everyNanos() / 2;
  }

  @Override
  public void onTime(long nowNanos) {
    dueNanos = nowNanos + everyNanos();
    engine.batches().offer(this);
  }

  @Override
  public ScriptCall call() {
    return sign.item();
  }

  @Override
  public long withinNanos() {
    return everyNanos();
  }

  @Override
  public void answered(long answer, long sentNanos) {
    if (answer != 1) {
      wake.fire();
    }
  }

  @Override
  public void failed(Fault fault) {
    Engine.LOG.debug("a waiter's sign of life was not sent", fault);
  }

  @Override
  public void close() {
    engine.scheduler().remove(this);
  }
}
