package io.mortise.cli.worker;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * The suspension of a process until this is closed: SIGSTOP, then SIGCONT. A shell sends both, and
 * waits in between for its input, so the process runs again also if this JVM is killed. A suspended
 * process could not see the end of its own input.
 */
public final class Suspension implements AutoCloseable {
  private static final String STOPPED = "stopped";
  private static final String SCRIPT =
      "kill -STOP %1$d && echo " + STOPPED + " && read wake; kill -CONT %1$d";

  private final Process shell;

  private Suspension(Process shell) {
    this.shell = shell;
  }

  /** Suspends the process. Returns when the signal is sent. */
  static Suspension of(long pid) throws IOException {
    Process shell =
        new ProcessBuilder("/bin/sh", "-c", SCRIPT.formatted(pid))
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    String answer = shell.inputReader(StandardCharsets.US_ASCII).readLine();
    if (!STOPPED.equals(answer)) {
      throw new IOException("process " + pid + " cannot be suspended: kill -STOP failed");
    }
    return new Suspension(shell);
  }

  /** Lets the process run again. A second call does nothing. */
  @Override
  public void close() throws IOException {
    shell.getOutputStream().close();
  }
}
