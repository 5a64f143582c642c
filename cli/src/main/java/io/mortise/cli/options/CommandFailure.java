package io.mortise.cli.options;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if a command cannot do what it was asked for. The message is one sentence for the user:
 * the fact, a semicolon, the remedy; it is printed behind {@code mortise:}.
 */
public final class CommandFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int status;

  /**
   * Creates the failure.
   *
   * @param status the exit status, one of {@link ExitStatus}
   */
  public CommandFailure(int status, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.status = status;
  }

  /** Returns the exit status. */
  public int status() {
    return status;
  }
}
