package io.mortise.core.spi;

import com.google.common.base.Utf8;
import io.mortise.core.LockOptions;
import java.util.Objects;

/**
 * The name of a lock, and the keys and channels that are derived from it, in Redisson's layout.
 *
 * @param value the name in Redis: the name that the user gave, in the client's namespace
 */
public record LockName(String value) {
  private static final int MAX_LENGTH = 1024;

  /**
   * Refuses a name that is empty or longer than 1,024 characters, has an opening brace that makes
   * no hash tag, or has half of a surrogate pair.
   */
  public LockName {
    Objects.requireNonNull(value, "a lock needs a name, not null");
    if (value.isBlank()) {
      throw new IllegalArgumentException("a lock needs a name that is not blank");
    }
    if (value.length() > MAX_LENGTH) {
      throw new IllegalArgumentException(
          "a lock's name has at most %d characters, not %d".formatted(MAX_LENGTH, value.length()));
    }
    if (value.contains("{") && !hasHashTag(value)) {
      throw new IllegalArgumentException(
          "lock name '%s' has a '{' that makes no hash tag, so its keys would sit in different slots"
                  .formatted(value)
              + " of a cluster; close it with a '}' and something in between, or leave it out");
    }
    ensureEncodable(value);
  }

  /** A text that was cut in the middle of an emoji would be the name of another lock in Redis. */
  private static void ensureEncodable(String value) {
    try {
      var unused = Utf8.encodedLength(value);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          ("lock name '%s' has half of a surrogate pair (%s), for which UTF-8 has a '?', so that"
                  + " different names would be one in Redis; cut it between two code points")
              .formatted(value, e.getMessage()),
          e);
    }
  }

  /**
   * Returns the name of a lock in the namespace of a client.
   *
   * @param name as the user gave it
   * @throws IllegalArgumentException if the name is blank or too long, has an opening brace that
   *     makes no hash tag, or half of a surrogate pair
   */
  public static LockName of(LockOptions options, String name) {
    return options.namespace().isEmpty() || name == null || name.isBlank()
        ? new LockName(name)
        : new LockName(options.namespace() + name);
  }

  /** Redis' rule: the first '{' counts, with the first '}' after it, if they are not adjacent. */
  private static boolean hasHashTag(String value) {
    int open = value.indexOf('{');
    return open >= 0 && value.indexOf('}', open) > open + 1;
  }

  /**
   * Returns a key or channel in the same hash slot as the lock: {@code prefix:{name}}, or {@code
   * prefix:name} when the name has its own hash tag.
   */
  public String derive(String prefix) {
    return prefix + ":" + tagged();
  }

  /** Returns the name as it is part of derived keys, where it determines the hash slot. */
  public String tagged() {
    return hasHashTag(value) ? value : "{" + value + "}";
  }

  /** Returns the key of the last fencing token. */
  public String tokenKey() {
    return derive("redisson_lock_token");
  }

  /** Returns the key of the mark that tells a holder that its lock was released by force. */
  public String forcedKey() {
    return derive("mortise_forced");
  }

  /** Returns the key of those that wait for a plain lock. */
  public String waitersKey() {
    return derive("mortise_waiters");
  }

  @Override
  public String toString() {
    return value;
  }
}
