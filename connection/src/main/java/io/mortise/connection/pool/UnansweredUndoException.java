package io.mortise.connection.pool;

import redis.clients.jedis.exceptions.JedisException;

/**
 * Thrown when the command that undoes an attempt has no answer. It may reach the server after the
 * next command, so no attempt of the same holder may follow: it would be undone in its place.
 */
public final class UnansweredUndoException extends JedisException {
  private static final long serialVersionUID = 1L;

  private final String whyUndone;
  private final RuntimeException failure;

  /**
   * @param whyUndone why the attempt is undone
   * @param failure what came instead of the answer
   */
  public UnansweredUndoException(String whyUndone, RuntimeException failure) {
    super(failure);
    this.whyUndone = whyUndone;
    this.failure = failure;
  }

  String whyUndone() {
    return whyUndone;
  }

  RuntimeException failure() {
    return failure;
  }
}
