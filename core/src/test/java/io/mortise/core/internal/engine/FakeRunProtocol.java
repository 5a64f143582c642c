package io.mortise.core.internal.engine;

import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.RunProtocol;
import io.mortise.scripts.ScriptCall;
import java.util.List;

/** A {@link FakeProtocol} of a hold with a run. */
public record FakeRunProtocol(FakeProtocol lock, List<String> run, int served)
    implements RunProtocol {

  @Override
  public RunProtocol servingNext() {
    return new FakeRunProtocol(lock, run, served + 1);
  }

  @Override
  public ScriptCall acquire(String holder, long leaseMillis, boolean waits, int successors) {
    return lock.acquire(holder, leaseMillis, waits, successors);
  }

  @Override
  public LockName name() {
    return lock.name();
  }

  @Override
  public String kind() {
    return lock.kind();
  }

  @Override
  public boolean usesLocalQueue() {
    return false;
  }

  @Override
  public boolean hasChannelPerWaiter() {
    return true;
  }

  @Override
  public String channel(String holder) {
    return lock.channel(holder);
  }

  @Override
  public AcquireResult outcome(Object reply) {
    return lock.outcome(reply);
  }

  @Override
  public ScriptCall release(String holder) {
    return lock.release(holder);
  }

  @Override
  public ScriptCall leave(String holder) {
    return lock.release(holder);
  }

  @Override
  public ScriptCall keep(String holder, long restMillis) {
    return lock.keep(holder, restMillis);
  }

  @Override
  public ScriptCall renew(String holder, long leaseMillis) {
    return lock.renew(holder, leaseMillis);
  }

  @Override
  public Heartbeat heartbeat(String holder) {
    return new Heartbeat(lock.renew(holder, 1), 1);
  }

  @Override
  public ScriptCall forceRelease() {
    return lock.forceRelease();
  }

  @Override
  public ScriptCall queryLease() {
    return lock.queryLease();
  }
}
