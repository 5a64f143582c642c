package io.mortise.core.spi;

import java.util.Objects;

/**
 * A lock's name, and the keys and channels made of it: the layout that Redisson uses too.
 *
 * @param value the name as the user gave it
 */
public record LockName(String value) {
  private static final int MAX_LENGTH = 1024;

  /**
   * Refuses a name that is empty or longer than 1,024 characters, or has an opening brace that
   * makes no hash tag.
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
  }

  /** Redis' rule: the first brace counts, with the first closing one after it, if not at once. */
  private static boolean hasHashTag(String value) {
    int open = value.indexOf('{');
    return open >= 0 && value.indexOf('}', open) > open + 1;
  }

  /**
   * A key or channel that sits in the same hash slot as the lock: {@code prefix:{name}}, or {@code
   * prefix:name} when the name brings a hash tag of its own.
   */
  public String derive(String prefix) {
    return prefix + ":" + tagged();
  }

  /** The name as it stands in derived keys, where it decides on the hash slot. */
  public String tagged() {
    return hasHashTag(value) ? value : "{" + value + "}";
  }

  /** The key of the last fencing token. */
  public String tokenKey() {
    return derive("redisson_lock_token");
  }

  /** The key of the mark by which a holder learns that its lock was taken by force. */
  public String forcedKey() {
    return derive("mortise_forced");
  }

  @Override
  public String toString() {
    return value;
  }
}
