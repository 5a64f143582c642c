package io.mortise.cli.worker;

import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.params.SetParams;

/**
 * Entries with a version, each a key in Redis, which a writer raises one after the other: a reader
 * needs a lock to see all of one version.
 *
 * <p><b>Threads.</b> Any thread may call any method: the fields are final, and the Jedis client is
 * safe for threads. Only the lock of the callers orders a read and the write after it.
 */
public final class Catalogue {
  private static final int ENTRIES = 10;

  /** The keys expire, in case the demo is killed. */
  private static final int KEY_LIFE_SECONDS = 3600;

  private final UnifiedJedis redis;
  private final List<String> keys;
  private final String writersKey;

  /**
   * The entries that one reader saw.
   *
   * @param versions of each entry
   */
  public record State(List<Integer> versions) {

    /** Keeps a copy of the list. */
    public State {
      versions = List.copyOf(versions);
    }

    /** Whether they have more than one version. */
    public boolean isTorn() {
      return versions.stream().distinct().count() > 1;
    }

    /** Returns the largest version. */
    public int newest() {
      return Collections.max(versions);
    }
  }

  /** The catalogue of the lock of that name. */
  public Catalogue(UnifiedJedis redis, String lockName) {
    this.redis = redis;
    keys = IntStream.range(0, ENTRIES).mapToObj(i -> lockName + ":entry-" + i).toList();
    writersKey = lockName + ":writers";
  }

  /** Sets all entries to version 0, and the number of writers. */
  public void reset(int writers) {
    write(0);
    set(writersKey, writers);
  }

  /** Reads the entries, one after the other. */
  public State read() {
    return new State(keys.stream().map(this::get).toList());
  }

  /** Writes the entries, one after the other. */
  public void write(int version) {
    keys.forEach(key -> set(key, version));
  }

  /** Notes that one writer has finished. */
  public void writerIsDone() {
    redis.decr(writersKey);
  }

  /** Whether a writer has not finished. */
  public boolean hasWriters() {
    return get(writersKey) > 0;
  }

  /** Removes all keys. */
  public void remove() {
    redis.del(keys.toArray(String[]::new));
    redis.del(writersKey);
  }

  private int get(String key) {
    return Optional.ofNullable(redis.get(key))
        .map(Integer::valueOf)
        .orElseThrow(
            () -> new IllegalStateException("the catalogue is missing: no key '" + key + "'"));
  }

  private void set(String key, int value) {
    redis.set(key, Integer.toString(value), SetParams.setParams().ex(KEY_LIFE_SECONDS));
  }
}
