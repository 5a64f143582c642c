package io.mortise.cli.demo;

/** Nobody got on any more: what the chapter claims does not hold. */
final class NoProgressException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  NoProgressException(String message) {
    super(message);
  }
}
