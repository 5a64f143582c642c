package io.mortise.cli.demo;

import org.jspecify.annotations.Nullable;

/** The demo could not be played, which says nothing about the locks. The message says why. */
public final class DemoFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The message is for the user, and names what to do. */
  public DemoFailure(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
