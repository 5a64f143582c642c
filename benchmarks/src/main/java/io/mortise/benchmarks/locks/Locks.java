package io.mortise.benchmarks.locks;

import java.util.List;

/** One client of a subject: it makes the sections of all threads of its process. */
public interface Locks extends AutoCloseable {

  /**
   * A section for one thread.
   *
   * @param names one name, or several for {@link LockKind#MULTI}
   * @param sharing who else wants them
   */
  Section section(LockKind kind, List<String> names, NameSharing sharing);

  @Override
  void close();

  /**
   * Connects.
   *
   * @param uris of the servers: one, or for {@link LockKind#QUORUM} all
   */
  static Locks open(LockLibrary subject, List<String> uris) {
    return switch (subject) {
      case MORTISE -> new MortiseLocks(uris);
      case REDISSON -> new RedissonLocks(uris);
      case FLOOR -> new FloorLocks(uris);
    };
  }
}
