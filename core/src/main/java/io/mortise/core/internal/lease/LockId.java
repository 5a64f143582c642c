package io.mortise.core.internal.lease;

import io.mortise.core.spi.LockProtocol;
import org.jspecify.annotations.Nullable;

/**
 * A lock of one client: all protocols of the lock have its kind and name in common.
 *
 * @param kind the family of the lock
 * @param name the name in Redis
 */
public record LockId(String kind, String name) {
  public static LockId of(LockProtocol protocol) {
    return new LockId(protocol.kind(), protocol.name().value());
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof LockId id && kind.equals(id.kind) && name.equals(id.name);
  }

  @Override
  public int hashCode() {
    return 31 * kind.hashCode() + name.hashCode();
  }

  @Override
  public String toString() {
    return kind + ":" + name;
  }
}
