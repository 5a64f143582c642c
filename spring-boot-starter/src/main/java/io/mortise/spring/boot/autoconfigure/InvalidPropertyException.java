package io.mortise.spring.boot.autoconfigure;

/** Thrown at the start of an application with a property that the client refuses. */
final class InvalidPropertyException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  static final String REDIS_URI = "mortise.redis.uri";

  private final String property;

  /**
   * Creates the exception.
   *
   * @param property the whole name
   * @param message names the property, and says what is wrong with its value, without any user or
   *     password
   */
  InvalidPropertyException(String property, String message, IllegalArgumentException cause) {
    super(message, cause);
    this.property = property;
  }

  String property() {
    return property;
  }
}
