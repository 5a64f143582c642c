package io.mortise.connection.pool;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An answer of a server.
 *
 * @param value as Jedis decodes it: {@code Long}, {@code byte[]}, {@code List}
 * @param before the failure of the earlier attempts, of which one may have run without an answer;
 *     null when there were none
 * @param serverRunId the server that answered, see {@link RedisConnection#serverRunId}; null when
 *     it is not known
 */
public record Reply(Object value, @Nullable CommandException before, @Nullable String serverRunId) {

  /** Returns whether there was an earlier attempt, which may have run. */
  public boolean repeated() {
    return before != null;
  }

  /** Returns false when the earlier attempt went to another server than the one that answered. */
  public boolean isFromSameServer() {
    return before == null
        || before.unansweredAttempts() == 0 // it was not lost
        || before.serverRunId() == null
        || serverRunId == null
        || Objects.equals(before.serverRunId(), serverRunId);
  }

  /** Returns the same reply with a part of its value. */
  public Reply with(Object part) {
    return new Reply(part, before, serverRunId);
  }

  /** Returns the same reply, after an earlier attempt too; null for none. */
  public Reply after(@Nullable CommandException earlier) {
    return earlier == null
        ? this
        : new Reply(value, before == null ? earlier : before.afterEarlier(earlier), serverRunId);
  }

  /** Returns how many earlier attempts may be on their way; at least 1 if there was one. */
  public int earlierAttempts() {
    return before == null ? 0 : Math.max(1, before.unansweredAttempts());
  }
}
