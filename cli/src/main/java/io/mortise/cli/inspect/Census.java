package io.mortise.cli.inspect;

import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockInspection;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.inspect.LockSearch;
import io.mortise.core.internal.inspect.LockSearch.Found;
import io.mortise.core.spi.LockName;
import java.util.List;
import java.util.Optional;

/**
 * The locks that one Redis had at one moment.
 *
 * @param server the URI without user and password
 * @param found the locks; none after a failure
 * @param failure why Redis could not be asked
 */
public record Census(String server, Found found, Optional<LockException> failure) {

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
      return new Census(server, new Found(only, false, 0, false), Optional.empty());
    }
    String names = LockSearch.pattern(client.options().namespace(), target);
    return new Census(server, search.find(names, limit), Optional.empty());
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
      return new Census(server, new Found(List.of(), false, 0, false), Optional.of(failure));
    }
  }

  /** Returns whether servers were not asked, where there may be more locks. */
  public boolean isPartial() {
    return found.isPartial();
  }

  /** Returns whether a lock is held. */
  public boolean isAnyHeld() {
    return found.locks().stream().anyMatch(LockInspection::isHeld);
  }
}
