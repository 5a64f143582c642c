package io.mortise.core.internal.inspect;

import static io.mortise.scripts.ScriptCall.text;

import com.google.common.primitives.Longs;
import io.mortise.core.LockInspection.Mode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;

/**
 * The reply of the script {@code lock/describe}.
 *
 * @param serverMicros the server's clock, epoch µs
 * @param queue the waiters in the queue, and those of a plain lock
 * @param others the waiters of a read-write lock without a queue
 */
record LockDescription(
    long serverMicros,
    Mode mode,
    OptionalLong token,
    boolean complete,
    List<Entry> holds,
    long queueLength,
    List<Entry> queue,
    List<Entry> others) {

  /**
   * A hold or a waiter.
   *
   * @param holds how often it holds the lock; 0 for a waiter
   * @param isCounted false for a field of the hash whose value is no hold count
   * @param millis the remaining lease, negative without an end; for a waiter, for how long it keeps
   *     its place
   */
  record Entry(String name, int holds, boolean isCounted, long millis) {}

  static LockDescription of(Object reply) {
    List<?> fields = (List<?>) reply;
    List<Entry> holds = holds((List<?>) fields.get(4));
    List<Entry> others = new ArrayList<>(waiters((List<?>) fields.get(7)));
    others.addAll(waiters((List<?>) fields.get(8)));
    others.addAll(waiters((List<?>) fields.get(9)));
    return new LockDescription(
        (Long) fields.get(0),
        mode(text(fields.get(1)), holds, (Long) fields.get(3) == 1),
        number(text(fields.get(2))),
        (Long) fields.get(3) == 1,
        holds,
        (Long) fields.get(5),
        waiters((List<?>) fields.get(6)),
        List.copyOf(others));
  }

  /**
   * Returns the mode. When a write hold runs out beside readers of its thread, the hash keeps the
   * mode of the writer until a script looks at it. Readers alone are then shown as such, if all of
   * the hash was read.
   */
  private static Mode mode(String mode, List<Entry> holds, boolean complete) {
    if (holds.isEmpty()) {
      return Mode.FREE;
    }
    return switch (mode.toLowerCase(Locale.ROOT)) {
      case "read" -> Mode.READ;
      case "write" ->
          complete && holds.stream().noneMatch(hold -> hold.name().endsWith(":write"))
              ? Mode.READ
              : Mode.WRITE;
      default -> Mode.EXCLUSIVE;
    };
  }

  private static List<Entry> holds(List<?> fields) {
    List<Entry> entries = new ArrayList<>();
    for (int i = 0; i + 2 < fields.size(); i += 3) {
      int count = Math.toIntExact((Long) fields.get(i + 1));
      entries.add(
          new Entry(text(fields.get(i)), Math.max(1, count), count > 0, (Long) fields.get(i + 2)));
    }
    return List.copyOf(entries);
  }

  private static List<Entry> waiters(List<?> fields) {
    List<Entry> entries = new ArrayList<>();
    for (int i = 0; i + 1 < fields.size(); i += 2) {
      entries.add(new Entry(text(fields.get(i)), 0, true, (Long) fields.get(i + 1)));
    }
    return List.copyOf(entries);
  }

  private static OptionalLong number(String digits) {
    Long number = Longs.tryParse(digits);
    return number == null ? OptionalLong.empty() : OptionalLong.of(number);
  }
}
