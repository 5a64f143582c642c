package io.mortise.cli.inspect;

import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockInspection;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.inspect.LockSearch;
import io.mortise.core.spi.LockName;
import java.util.List;
import java.util.Optional;

/**
 * The locks that one Redis had at one moment.
 *
 * @param server the URI without user and password
 * @param locks in the order of their names
 * @param hasMore whether there are more than the limit
 * @param unreadable how many hashes the user may not read
 * @param isPartial whether servers of a cluster were not asked, because its slot map cannot be read
 * @param failure why Redis could not be asked
 */
public record Census(
    String server,
    List<LockInspection> locks,
    boolean hasMore,
    long unreadable,
    boolean isPartial,
    Optional<LockException> failure) {

  /** Copies the list. */
  public Census {
    locks = List.copyOf(locks);
  }

  /** Returns whether a text is a pattern; otherwise it is a name. */
  public static boolean isPattern(String text) {
    return LockSearch.isPattern(text);
  }

  /**
   * Asks for the lock of a name, or for all whose names match a pattern.
   *
   * @param target a name or a pattern, in the namespace of the client
   * @param pattern whether it is a pattern
   * @param limit the maximum number of locks
   * @throws LockException if Redis cannot be used
   * @throws IllegalArgumentException if the text is neither
   */
  public static Census take(
      String server, LockClient client, String target, boolean pattern, int limit) {
    LockSearch search = ((RedisLockClient) client).search();
    if (!pattern) {
      LockName name = LockName.of(client.options(), target);
      List<LockInspection> only = search.inspect(List.of(name.value()));
      only.get(0)
          .failure()
          .ifPresent(
              failure -> {
                throw failure;
              });
      return new Census(server, only, false, 0, false, Optional.empty());
    }
    LockSearch.Found found =
        search.find(LockSearch.pattern(client.options().namespace(), target), limit);
    return new Census(
        server,
        found.locks(),
        found.hasMore(),
        found.unreadable(),
        found.isPartial(),
        Optional.empty());
  }

  /**
   * As {@link #take}, but a Redis that cannot be used is an answer: for one of several, and for one
   * that is asked again.
   */
  public static Census tryTake(
      String server, LockClient client, String target, boolean pattern, int limit) {
    try {
      return take(server, client, target, pattern, limit);
    } catch (LockException failure) {
      return new Census(server, List.of(), false, 0, false, Optional.of(failure));
    }
  }

  /** Returns whether a lock is held. */
  public boolean isAnyHeld() {
    return locks.stream().anyMatch(LockInspection::isHeld);
  }
}
