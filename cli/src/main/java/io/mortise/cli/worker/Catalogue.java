package io.mortise.cli.worker;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.params.SetParams;

/**
 * Some entries with a version each, which a writer raises one after the other: keys of their own in
 * Redis, so that whoever reads them meanwhile needs a lock to see all of one version.
 */
public final class Catalogue {
  private static final int ENTRIES = 10;

  /** The keys go by themselves, should the demo be killed. */
  private static final int KEY_LIFE_SECONDS = 3600;

  private final UnifiedJedis redis;
  private final List<String> keys;
  private final String writersKey;

  /**
   * What one reader saw.
   *
   * @param versions of each entry
   */
  public record State(List<Integer> versions) {

    /** Keeps a copy of the list. */
    public State {
      versions = List.copyOf(versions);
    }

    /** Whether they are not all of one version. */
    public boolean isTorn() {
      return versions.stream().distinct().count() > 1;
    }

    /** The largest. */
    public int newest() {
      return Collections.max(versions);
    }
  }

  /** The catalogue that is protected by the lock of that name. */
  public Catalogue(UnifiedJedis redis, String lockName) {
    this.redis = redis;
    List<String> names = new ArrayList<>();
    for (int i = 0; i < ENTRIES; i++) {
      names.add(lockName + ":entry-" + i);
    }
    keys = List.copyOf(names);
    writersKey = lockName + ":writers";
  }

  /** Version 0 everywhere, and so many writers to come. */
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

  /** To be called by each writer when it has written all that it has. */
  public void writerIsDone() {
    redis.decr(writersKey);
  }

  /** Whether a writer will still write. */
  public boolean hasWriters() {
    return get(writersKey) > 0;
  }

  /** Leaves nothing behind. */
  public void remove() {
    redis.del(keys.toArray(String[]::new));
    redis.del(writersKey);
  }

  private int get(String key) {
    return Optional.ofNullable(redis.get(key))
        .map(Integer::valueOf)
        .orElseThrow(
            () -> new IllegalStateException("the catalogue is gone: nobody set key '" + key + "'"));
  }

  private void set(String key, int value) {
    redis.set(key, Integer.toString(value), SetParams.setParams().ex(KEY_LIFE_SECONDS));
  }
}
