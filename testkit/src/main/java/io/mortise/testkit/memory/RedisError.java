package io.mortise.testkit.memory;

/** An error reply: its code, and what went wrong. */
final class RedisError extends RuntimeException {
  private static final long serialVersionUID = 1L;

  RedisError(String reply) {
    super(reply, null, false, false);
  }

  /** Returns the reply to a command on a key of another type. */
  static RedisError wrongType() {
    return new RedisError("WRONGTYPE Operation against a key holding the wrong kind of value");
  }

  /** Returns the reply to an argument that is no integer. */
  static RedisError notAnInteger() {
    return new RedisError("ERR value is not an integer or out of range");
  }

  /** Returns the reply to arguments that the command does not know. */
  static RedisError syntax() {
    return new RedisError("ERR syntax error");
  }

  String reply() {
    return String.valueOf(getMessage());
  }
}
