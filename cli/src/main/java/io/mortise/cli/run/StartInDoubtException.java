package io.mortise.cli.run;

/**
 * Thrown if the start of a command failed in such a way that it may run, and cannot be ended or
 * waited for. The lock must not be released: it stays until its lease ends.
 */
public final class StartInDoubtException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  StartInDoubtException(Throwable cause) {
    super(
        "the command may have been started, and cannot be watched: %s; its lock is not released, and stays until its lease ends"
            .formatted(cause),
        cause);
  }
}
