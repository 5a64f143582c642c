package io.mortise.core.internal.inspect;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.core.LockInspection.Participant.Library;
import io.mortise.core.internal.lease.HolderId;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Distinguishes the hash of a lock from other hashes, by its first fields.
 *
 * <p><b>Threads.</b> Stateless; any thread may call any method.
 */
final class LockHashes {
  private static final Pattern COUNT = Pattern.compile("[1-9]\\d{0,8}");
  private static final String MODE = "mode";

  private LockHashes() {}

  /**
   * Returns whether the fields are those of a lock: each is the id of a holder of Mortise or
   * Redisson with a count, or the mode of a read-write lock; and there is a holder.
   *
   * @param fields name, value, name, value
   */
  static boolean isLock(List<?> fields) {
    boolean held = false;
    for (int i = 0; i + 1 < fields.size(); i += 2) {
      String name = text(fields.get(i));
      String value = text(fields.get(i + 1));
      if (name.equals(MODE)) {
        if (!value.equals("read") && !value.equals("write")) {
          return false;
        }
      } else if (COUNT.matcher(value).matches() && isHolder(name)) {
        held = true;
      } else {
        return false;
      }
    }
    return held;
  }

  /** Returns whether there is nothing but the mode among the fields, or nothing at all. */
  static boolean hasNoHolder(List<?> fields) {
    return fields.isEmpty() || (fields.size() == 2 && text(fields.get(0)).equals(MODE));
  }

  private static boolean isHolder(String field) {
    return HolderId.of(InspectionReader.holder(field)).maker() != Library.UNKNOWN;
  }

  private static String text(Object value) {
    return value instanceof byte[] bytes ? new String(bytes, UTF_8) : "";
  }
}
