package io.mortise.core.internal.lease;

import static io.mortise.scripts.ScriptCall.bytes;

import io.mortise.connection.command.ScriptExecutor;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.Reply;
import io.mortise.core.LockException;
import io.mortise.core.spi.LockName;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/**
 * The fencing token of one hold, which may be raised while the hold lasts.
 *
 * <p><b>Threads.</b> Any thread may call any method. The token never becomes smaller.
 */
final class FencingToken {
  /** The script for all families: the layout of hash and token is the same. */
  private static final Script RAISE = Script.load("lock/raise");

  // No AtomicLong: a client may keep a million holds.
  private static final AtomicLongFieldUpdater<FencingToken> CURRENT =
      AtomicLongFieldUpdater.newUpdater(FencingToken.class, "current");

  private final ScriptExecutor commands;
  private final Duration retention;
  private final HoldIdentity id;
  private final long first;
  private final long last;
  private volatile long current;

  /**
   * @param retention for how long Redis remembers the token
   * @param first the token with which the hold begins
   * @param last the last token before it that Redis remembered; 0 when it remembered none
   */
  FencingToken(
      ScriptExecutor commands, Duration retention, HoldIdentity id, long first, long last) {
    this.commands = commands;
    this.retention = retention;
    this.id = id;
    this.first = first;
    this.last = last;
    this.current = first;
  }

  long get() {
    return current;
  }

  long last() {
    return last;
  }

  /** Returns whether the token was raised since the hold began. */
  boolean wasRaised() {
    return current != first;
  }

  /** Raises the token with one command; returns false when the hold does not exist. */
  boolean raise(long atLeast) {
    try {
      return onRaised(commands.run(raiseCall(atLeast)), atLeast);
    } catch (CommandException fault) {
      throw raiseFailed(fault);
    }
  }

  ScriptCall raiseCall(long atLeast) {
    LockName name = id.protocol().name();
    return new ScriptCall(
        RAISE,
        List.of(bytes(name.value()), bytes(name.tokenKey())),
        List.of(
            bytes(id.protocol().hashField(id.holder())),
            bytes(atLeast),
            bytes(retention.toMillis())));
  }

  /** Handles the reply to {@link #raiseCall}; returns whether the hold exists. */
  boolean onRaised(Reply reply, long atLeast) {
    boolean held = (Long) reply.value() == 1;
    if (held) {
      CURRENT.accumulateAndGet(this, atLeast, Math::max);
    }
    return held;
  }

  LockException raiseFailed(CommandException fault) {
    return LockExceptions.from(
        fault, id.protocol().name(), "held, but its fencing token could not be raised");
  }
}
