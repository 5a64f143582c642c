package io.mortise.connection.pool;

import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Thrown when the server has refused a command of an exchange after an earlier one had taken
 * effect. The caller has to undo that, whatever the refusal says about its own command.
 */
public final class PartlyExecutedException extends JedisException {
  private static final long serialVersionUID = 1L;

  private final JedisDataException refusal;

  public PartlyExecutedException(JedisDataException refusal) {
    super(refusal);
    this.refusal = refusal;
  }

  JedisDataException refusal() {
    return refusal;
  }
}
