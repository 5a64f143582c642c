package io.mortise.schedules.model;

import java.util.HashMap;
import java.util.Map;

/**
 * The fencing tokens of a sequence. That of a holder is larger than those of all earlier ones; that
 * of a reader is not smaller than that of the last writer.
 */
final class Tokens {
  private final Map<String, Long> last = new HashMap<>();
  private final Map<String, Long> lastOfWriters = new HashMap<>();

  /** Checks the token of a leaf that was acquired, and not entered again. */
  void acquired(Leaf leaf, long token) {
    long least =
        leaf.shared
            ? lastOfWriters.getOrDefault(leaf.key, 0L)
            : last.getOrDefault(leaf.key, 0L) + 1;
    if (token < least) {
      throw new AssertionError("token %d of %s, not at least %d".formatted(token, leaf, least));
    }
    last.merge(leaf.key, token, Math::max);
    if (!leaf.shared) {
      lastOfWriters.merge(leaf.key, token, Math::max);
    }
  }
}
