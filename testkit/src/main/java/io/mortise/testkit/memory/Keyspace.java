package io.mortise.testkit.memory;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a server, with their values and the times at which they end.
 *
 * <p>A key whose time is over does not exist for any reader. Bytes are kept as strings of
 * ISO-8859-1: a character is a byte. The type of a value is its Java class: {@code String}, {@link
 * Hash}, {@link ListValue}, {@link SetValue} or {@link SortedSet}.
 *
 * <p><b>Threads.</b> Guarded by the monitor of the {@link MemoryServer}.
 */
final class Keyspace {
  private static final long NO_END = Long.MAX_VALUE;

  /** A hash, in the order in which its fields were added. */
  static final class Hash extends LinkedHashMap<String, String> {
    private static final long serialVersionUID = 1L;
  }

  /** A list. */
  static final class ListValue extends ArrayList<String> {
    private static final long serialVersionUID = 1L;
  }

  /** A set. */
  static final class SetValue extends LinkedHashSet<String> {
    private static final long serialVersionUID = 1L;
  }

  private record Entry(Object value, long endMillis) {}

  private final Map<String, Entry> entries = new HashMap<>();
  private final LongSupplier clockMicros;

  /** The time of the command that runs: a key does not expire in the middle of a script. */
  private long nowMicros;

  Keyspace(LongSupplier clockMicros) {
    this.clockMicros = clockMicros;
  }

  /** Reads the clock. Called before each command of a client, not before those in a script. */
  void readClock() {
    nowMicros = clockMicros.getAsLong();
  }

  long nowMicros() {
    return nowMicros;
  }

  long nowMillis() {
    return nowMicros / 1_000;
  }

  private @Nullable Entry entry(String key) {
    Entry entry = entries.get(key);
    if (entry != null && entry.endMillis() < nowMillis()) {
      entries.remove(key);
      return null;
    }
    return entry;
  }

  /**
   * Returns the value; null when the key does not exist.
   *
   * @throws RedisError if the value has another type
   */
  <T> @Nullable T get(String key, Class<T> type) {
    Entry entry = entry(key);
    if (entry == null) {
      return null;
    }
    if (!type.isInstance(entry.value())) {
      throw RedisError.wrongType();
    }
    return type.cast(entry.value());
  }

  /** Returns the value, which is empty if the key did not exist, and is stored under the key. */
  <T> T getOrCreate(String key, Class<T> type, Supplier<T> empty) {
    T value = get(key, type);
    if (value == null) {
      value = empty.get();
      entries.put(key, new Entry(value, NO_END));
    }
    return value;
  }

  /** Returns the name of the type of the value. */
  String typeOf(String key) {
    Entry entry = entry(key);
    if (entry == null) {
      return "none";
    }
    Object value = entry.value();
    if (value instanceof Hash) {
      return "hash";
    } else if (value instanceof ListValue) {
      return "list";
    } else if (value instanceof SetValue) {
      return "set";
    }
    return value instanceof SortedSet ? "zset" : "string";
  }

  /** Stores a string without an end. */
  void set(String key, String value) {
    entries.put(key, new Entry(value, NO_END));
  }

  /** Stores any value without an end. */
  void replace(String key, Object value) {
    entries.put(key, new Entry(value, NO_END));
  }

  boolean exists(String key) {
    return entry(key) != null;
  }

  boolean delete(String key) {
    boolean existed = exists(key);
    entries.remove(key);
    return existed;
  }

  /** Deletes a collection that has become empty. */
  void deleteIf(String key, boolean empty) {
    if (empty) {
      entries.remove(key);
    }
  }

  /** Sets the time at which a key ends; returns false when the key does not exist. */
  boolean expireAt(String key, long endMillis) {
    Entry entry = entry(key);
    if (entry == null) {
      return false;
    }
    if (endMillis <= nowMillis()) {
      entries.remove(key);
    } else {
      entries.put(key, new Entry(entry.value(), endMillis));
    }
    return true;
  }

  /** Lets a key live without an end; returns whether it had one. */
  boolean persist(String key) {
    Entry entry = entry(key);
    if (entry == null || entry.endMillis() == NO_END) {
      return false;
    }
    entries.put(key, new Entry(entry.value(), NO_END));
    return true;
  }

  /** Returns the remaining life of a key in ms; -1 without an end, -2 when it does not exist. */
  long ttlMillis(String key) {
    Entry entry = entry(key);
    if (entry == null) {
      return -2;
    }
    return entry.endMillis() == NO_END ? -1 : entry.endMillis() - nowMillis();
  }

  /** Returns all keys that exist. */
  List<String> keys() {
    return entries.keySet().stream().toList().stream().filter(this::exists).sorted().toList();
  }

  void clear() {
    entries.clear();
  }
}
