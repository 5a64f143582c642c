package io.mortise.benchmarks.locks;

import com.fasterxml.jackson.annotation.JsonValue;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The libraries that are compared, and what they are compared to, in the order of the tables. */
public enum LockLibrary {
  MORTISE("mortise", "Mortise"),
  REDISSON("redisson", "Redisson"),
  /** The same work by bare commands, which Jedis sends, without an engine. */
  BARE_COMMANDS("bare_commands", "bare commands"),
  /** Mortise's lock on one server, to which its locks on several are compared. */
  ONE_NODE("one_node", "one node");

  /** Those that lock on one server, each in its own way. */
  public static final List<LockLibrary> ON_ONE_SERVER = List.of(MORTISE, REDISSON, BARE_COMMANDS);

  private final String label;
  private final String title;

  LockLibrary(String label, String title) {
    this.label = label;
    this.title = title;
  }

  /** Whether these are locks of Mortise, so that their failure fails the run. */
  public boolean isMortise() {
    return this == MORTISE || this == ONE_NODE;
  }

  /** Its name in the JSON. */
  @JsonValue
  public String label() {
    return label;
  }

  /** Its name in tables and charts. */
  public String title() {
    return title;
  }

  /** Returns the title of the library that has this name in the JSON. */
  public static String titleOf(@Nullable Object label) {
    return Arrays.stream(values())
        .filter(library -> library.label.equals(label))
        .map(LockLibrary::title)
        .findFirst()
        .orElseThrow();
  }

  /**
   * Connects a client.
   *
   * @param uris of the servers: one, or for {@link MeasuredLock#QUORUM} all
   */
  public Locks open(List<String> uris) {
    return switch (this) {
      case MORTISE, ONE_NODE -> new MortiseLocks(uris);
      case REDISSON -> new RedissonLocks(uris);
      case BARE_COMMANDS -> new BareCommandLocks(uris);
    };
  }

  /** Connects one of many clients of this JVM; each has its connections and its id. */
  public Locks openInCrowd(List<String> uris) {
    return this == REDISSON ? RedissonLocks.inCrowd(uris) : open(uris);
  }

  /** Lets many readers hold one lock, as that many holders of the library would. */
  public void fill(String uri, String name, int readers, Duration lease) {
    switch (this) {
      case MORTISE -> ManyHolders.reading(uri, name, readers, lease);
      case REDISSON -> ManyHolders.readingByRedisson(uri, name, readers, lease);
      case BARE_COMMANDS, ONE_NODE ->
          throw new IllegalArgumentException("Mortise and Redisson alone are measured");
    }
  }

  /** Lets many wait for a fair lock that somebody holds, each with a place in its queue. */
  public void queue(String uri, String name, int waiters) {
    if (this != MORTISE) {
      throw new IllegalArgumentException("Mortise alone is measured");
    }
    ManyHolders.queued(uri, name, waiters);
  }

  /** Connects a client that holds many locks. */
  public Holds openHolds(String uri, Duration lease) {
    return switch (this) {
      case MORTISE, ONE_NODE -> new MortiseHolds(uri, lease);
      case REDISSON -> new RedissonHolds(uri, lease);
      case BARE_COMMANDS -> new BareCommandHolds(uri, lease);
    };
  }
}
