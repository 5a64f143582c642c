package io.mortise.spring.boot.autoconfigure;

/** Thrown at the start of an application whose Jedis lacks methods that locks need. */
final class UnsupportedJedisException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  static final String REMEDY =
      "Set the property jedis.version to 8.0.2 in the project file, if its parent is Spring Boot's;"
          + " otherwise manage redis.clients:jedis with that version before Spring Boot's BOM.";

  UnsupportedJedisException(String found) {
    super("locks need Jedis 8.0.0 or later, and the class path has " + found);
  }
}
