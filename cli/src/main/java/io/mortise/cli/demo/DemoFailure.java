package io.mortise.cli.demo;

import org.jspecify.annotations.Nullable;

/** Thrown if the demo cannot run, which says nothing about the locks. The message says why. */
public final class DemoFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** A failure with a message for the user, which names the remedy. */
  public DemoFailure(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
