package io.mortise.core.internal.engine;

import static io.mortise.scripts.ScriptCall.bytes;
import static io.mortise.scripts.ScriptCall.publish;

import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.util.List;

/** A protocol for tests: what it sends is real, but it neither keeps nor forces. */
public record FakeProtocol(LockName name) implements LockProtocol {
  private static final Script ACQUIRE = Script.load("lock/acquire");
  private static final Script RELEASE = Script.load("lock/release");
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
  public ScriptCall acquire(String holder, long leaseMillis, boolean waits, int successors) {
    return new ScriptCall(
        ACQUIRE,
        List.of(bytes(name.value()), bytes(name.tokenKey()), bytes(name.waitersKey())),
        List.of(bytes(holder), bytes(leaseMillis), bytes(leaseMillis), bytes(1), bytes(0)));
  }

  @Override
  public AcquireResult outcome(Object reply) {
    return AcquireResult.Acquired.of((List<?>) reply);
  }

  @Override
  public ScriptCall release(String holder) {
    return new ScriptCall(
        RELEASE,
        List.of(
            bytes(name.value()),
            bytes(channel(holder)),
            bytes(name.forcedKey()),
            bytes(name.waitersKey())),
        List.of(bytes(holder), publish()));
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
