package io.mortise.core.internal.engine;

import static io.mortise.scripts.ScriptCall.bytes;

import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.util.List;

/** A protocol for tests: its renewals and queries are real, the rest is not supported. */
public record FakeProtocol(LockName name) implements LockProtocol {
  private static final Script RENEW = Script.load("lock/renew");
  private static final Script INSPECT = Script.load("lock/inspect");

  public FakeProtocol(String name) {
    this(new LockName(name));
  }

  @Override
  public String kind() {
    return "fake";
  }

  @Override
  public boolean usesLocalQueue() {
    return true;
  }

  @Override
  public String channel(String holder) {
    return name.derive("channel");
  }

  @Override
  public ScriptCall renew(String holder, long leaseMillis) {
    return new ScriptCall(
        RENEW,
        List.of(bytes(name.value()), bytes(name.forcedKey())),
        List.of(bytes(holder), bytes(leaseMillis)));
  }

  @Override
  public ScriptCall queryLease() {
    return new ScriptCall(INSPECT, List.of(bytes(name.value())), List.of());
  }

  @Override
  public ScriptCall acquire(String holder, long leaseMillis, boolean waits) {
    throw new UnsupportedOperationException();
  }

  @Override
  public AcquireResult outcome(Object reply) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ScriptCall release(String holder) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ScriptCall keep(String holder, long restMillis) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ScriptCall forceRelease() {
    throw new UnsupportedOperationException();
  }
}
