package io.mortise.connection.pool;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An answer of a server.
 *
 * @param value as Jedis decodes it: {@code Long}, {@code byte[]}, {@code List}
 * @param before of an earlier try, which may have run without an answer; null when there was none
 * @param life which server answered, see {@link RedisConnection#serverRunId}; null when that is not
 *     known
 */
public record Reply(Object value, @Nullable CommandException before, @Nullable String life) {

  /** Whether it was asked before, and that may have run. */
  public boolean repeated() {
    return before != null;
  }

  /** False when the earlier try went to another server than this answer came from. */
  public boolean isFromSameServer() {
    return before == null
        || before.isServerReply() // it was not lost
        || before.serverRunId() == null
        || life == null
        || Objects.equals(before.serverRunId(), life);
  }

  /** The same, for a part of the answer. */
  public Reply with(Object part) {
    return new Reply(part, before, life);
  }

  /** The same, after an earlier try; null for none. */
  public Reply after(@Nullable CommandException earlier) {
    return earlier == null ? this : new Reply(value, earlier, life);
  }
}
