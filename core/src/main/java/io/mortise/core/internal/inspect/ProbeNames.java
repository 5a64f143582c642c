package io.mortise.core.internal.inspect;

import io.mortise.core.LockOptions;
import io.mortise.core.spi.LockName;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * The name of the lock that a check tries at one server.
 *
 * <p><b>Threads.</b> Stateless; any thread may call any method.
 */
final class ProbeNames {
  /** Three masters need about three, and a master of one slot some ten thousand. */
  private static final int MAX_NAMES = 100_000;

  private ProbeNames() {}

  /** Returns whether all names of the client have one slot, that of their namespace. */
  static boolean isPinned(LockOptions options) {
    LockName any = LockName.of(options, "any");
    return any.tagged().equals(any.value());
  }

  /** Returns a name in the client's namespace whose keys are at a server. */
  static Optional<LockName> find(
      LockOptions options, String clientId, Predicate<LockName> isThere) {
    return IntStream.range(0, isPinned(options) ? 1 : MAX_NAMES)
        .mapToObj(i -> name(options, clientId, i))
        .filter(isThere)
        .findFirst();
  }

  /** Returns a name in the client's namespace, wherever its keys are. */
  static LockName any(LockOptions options, String clientId) {
    return name(options, clientId, 0);
  }

  private static LockName name(LockOptions options, String clientId, int number) {
    return LockName.of(options, "mortise-ping:" + clientId + ":" + number);
  }
}
