package io.mortise.testkit;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.awaitility.Awaitility;

/**
 * A child process that can be killed and suspended, and that does not outlive this JVM: the {@link
 * ProcessGuard} kills it.
 *
 * <p><b>Threads.</b> Any thread may call all methods; pauses and resumes are for one thread at a
 * time.
 */
final class OsProcess {
  private static final Duration SIGNAL_TIMEOUT = Duration.ofSeconds(10);

  private final Process process;
  private volatile boolean paused;

  /** Takes a child that was started elsewhere; it is not killed at the end of this JVM. */
  OsProcess(Process process) {
    this.process = process;
  }

  static OsProcess start(ProcessBuilder builder) throws IOException {
    return new OsProcess(ProcessGuard.start(builder));
  }

  long pid() {
    return process.pid();
  }

  boolean isRunning() {
    return process.isAlive();
  }

  /** Whether {@link #pause()} was the last of the two that was called. */
  boolean isPaused() {
    return paused;
  }

  InputStream output() {
    return process.getInputStream();
  }

  OutputStream input() {
    return process.getOutputStream();
  }

  /** SIGKILL, which also ends a suspended process. Returns when the process is gone. */
  void kill() {
    process.destroyForcibly();
    awaitExit(SIGNAL_TIMEOUT);
  }

  /** SIGTERM. Returns when the process is gone; one that does not obey in time is killed. */
  void terminate(Duration timeout) {
    if (!process.isAlive()) {
      return;
    }
    try {
      resume(); // a suspended process would not see the signal
    } catch (IllegalStateException e) {
      // It has ended just now; if it has not, the time-out kills it.
    }
    process.destroy();
    if (!exitsWithin(timeout)) {
      kill();
    }
  }

  /** SIGSTOP. Returns when the process is stopped, where {@code /proc} shows it. */
  void pause() {
    paused = true;
    signal("STOP");
    Path stat = Path.of("/proc", Long.toString(pid()), "stat");
    if (Files.isReadable(stat)) {
      Awaitility.await("process " + pid() + " to be suspended")
          .pollInSameThread()
          .pollDelay(Duration.ZERO)
          .pollInterval(Duration.ofMillis(1))
          .atMost(SIGNAL_TIMEOUT)
          .until(() -> isStopped(stat));
    }
  }

  /** SIGCONT. */
  void resume() {
    signal("CONT");
    paused = false;
  }

  /**
   * Waits for the end of the process.
   *
   * @throws IllegalStateException if it still runs after that time
   */
  int awaitExit(Duration timeout) {
    if (!exitsWithin(timeout)) {
      throw new IllegalStateException(
          "process %d still runs after %d ms".formatted(pid(), timeout.toMillis()));
    }
    return process.exitValue();
  }

  /** An interrupt is kept for the caller: half-ended processes help nobody. */
  private boolean exitsWithin(Duration timeout) {
    try {
      Uninterruptibles.getUninterruptibly(process.onExit(), timeout);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException e) {
      throw new IllegalStateException("process " + pid(), e);
    }
  }

  private void signal(String name) {
    if (!process.isAlive()) {
      throw new IllegalStateException("process %d is not running".formatted(pid()));
    }
    try {
      ProcessGuard.signal(name, pid());
    } catch (IOException e) {
      throw new IllegalStateException(e.getMessage(), e);
    }
  }

  private static boolean isStopped(Path stat) {
    try {
      // pid (command) state ...; the command may contain anything, so count from its end.
      String line = Files.readString(stat);
      int end = line.lastIndexOf(')');
      return line.startsWith(") T", end) || line.startsWith(") t", end);
    } catch (IOException e) {
      return true; // it has ended meanwhile
    }
  }
}
