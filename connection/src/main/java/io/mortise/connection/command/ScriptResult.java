package io.mortise.connection.command;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.Reply;
import org.jspecify.annotations.Nullable;

/**
 * The answer to one of many calls, or its failure.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 *
 * @param reply the answer; an empty one when there is a failure
 */
public record ScriptResult(Reply reply, @Nullable CommandException fault) {
  private static final Reply NO_REPLY = new Reply("", null, null);

  /** Returns whether the server has answered with an error. */
  public boolean isRefused() {
    return fault != null && fault.isServerReply();
  }

  /** Returns the same result, after a call that the server has refused. */
  public ScriptResult after(ScriptResult refused) {
    return fault == null ? of(reply.after(refused.fault)) : this;
  }

  static ScriptResult of(Reply reply) {
    return new ScriptResult(reply, null);
  }

  static ScriptResult of(CommandException fault) {
    return new ScriptResult(NO_REPLY, fault);
  }
}
