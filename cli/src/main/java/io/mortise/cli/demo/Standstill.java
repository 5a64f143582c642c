package io.mortise.cli.demo;

/** Nobody got on any more: what the chapter claims does not hold. */
final class Standstill extends RuntimeException {
  private static final long serialVersionUID = 1L;

  Standstill(String message) {
    super(message);
  }
}
