package io.mortise.cli.demo;

/** Thrown if the workers make no progress: the claim of the chapter does not hold. */
final class NoProgressException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  NoProgressException(String message) {
    super(message);
  }
}
