package io.mortise.testkit;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A shell beside this JVM that sends signals for it, and that kills its children when it is gone.
 *
 * <p>The shell reads from a pipe that only this JVM writes to. The pipe closes when this JVM ends,
 * however it ends; the shell then kills ({@code kill -9}) every child that is registered with it
 * and has not ended, also a suspended one. A child begins as a shell that waits for a word on its
 * standard input, and becomes its program, under the same process id, when the guard knows that id.
 * So there is no moment at which the death of this JVM leaves a child behind.
 *
 * <p>A running shell sends a signal in a fraction of a millisecond; a new {@code kill} process
 * takes several. The shell needs nothing but its built-in commands.
 *
 * <p><b>Threads.</b> Any thread may call any method; a lock makes each conversation with the shell
 * one step.
 */
final class ProcessGuard {
  private static final String SHELL = "/bin/sh";

  /** Ctrl-C reaches the shell too, and must not end it before this JVM. */
  private static final String GUARD =
      """
      trap '' HUP INT TERM
      children=
      while read -r verb pid; do
        case $verb in
          watch) children="$children $pid" ;;
          forget)
            left=
            for child in $children; do [ "$child" = "$pid" ] || left="$left $child"; done
            children=$left ;;
          *) if kill "-$verb" "$pid" 2>/dev/null; then echo sent; else echo refused; fi ;;
        esac
      done
      [ -z "$children" ] || kill -KILL $children 2>/dev/null
      """;

  /** Ends at once if this JVM dies before it writes the word. */
  private static final String CHILD = "read -r begin && exec \"$@\"";

  private static final ReentrantLock LOCK = new ReentrantLock();
  private static @Nullable ProcessGuard running; // guarded by LOCK

  private final OutputStream orders;
  private final BufferedReader answers;

  private ProcessGuard(Process shell) {
    this.orders = shell.getOutputStream();
    this.answers = shell.inputReader(US_ASCII);
  }

  /** Starts a child that does not outlive this JVM. */
  static Process start(ProcessBuilder builder) throws IOException {
    List<String> line = new ArrayList<>(List.of(SHELL, "-c", CHILD, SHELL));
    line.addAll(builder.command());
    Process child = builder.command(line).start();
    try {
      tell("watch", child.pid());
      child.getOutputStream().write('\n');
      child.getOutputStream().flush();
    } catch (IOException e) {
      child.destroyForcibly();
      throw e;
    }
    var unused = child.onExit().thenAccept(ProcessGuard::forget);
    return child;
  }

  /**
   * Sends a signal, by its name without SIG.
   *
   * @throws IOException if it cannot be sent to that process
   */
  static void signal(String name, long pid) throws IOException {
    LOCK.lock();
    try {
      ProcessGuard guard = tell(name, pid);
      String answer = guard.answers.readLine();
      if (!"sent".equals(answer)) {
        throw new IOException("SIG%s did not reach process %d".formatted(name, pid));
      }
    } finally {
      LOCK.unlock();
    }
  }

  private static void forget(Process child) {
    try {
      tell("forget", child.pid());
    } catch (IOException e) {
      // The guard has ended, so it kills no child.
    }
  }

  private static ProcessGuard tell(String verb, long pid) throws IOException {
    LOCK.lock();
    try {
      ProcessGuard guard = running;
      if (guard == null) {
        guard =
            new ProcessGuard(
                new ProcessBuilder(SHELL, "-c", GUARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start());
        running = guard;
      }
      guard.orders.write((verb + " " + pid + "\n").getBytes(US_ASCII));
      guard.orders.flush();
      return guard;
    } finally {
      LOCK.unlock();
    }
  }
}
