package io.mortise.testkit;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A shell beside this JVM that sends signals for it, and that kills its children and deletes its
 * directory when it is gone.
 *
 * <p>The shell reads from a pipe that only this JVM writes to. The pipe closes when this JVM ends,
 * however it ends; the shell then kills ({@code kill -9}) every child that is registered with it
 * and has not ended, also a suspended one, and deletes the directory of this JVM. An end of this
 * JVM in order waits for that. Children and directory stay if the shell is killed too.
 *
 * <p>A child begins as a shell that waits for a word on its standard input, and becomes its
 * program, under the same process id, when the guard knows that id. So there is no moment at which
 * the death of this JVM leaves a child behind.
 *
 * <p>A running shell sends a signal in a fraction of a millisecond; a new {@code kill} process
 * takes several.
 *
 * <p><b>Threads.</b> Any thread may call any method; a lock makes each conversation with the shell
 * one step.
 */
final class ProcessGuard {
  private static final String SHELL = "/bin/sh";

  /**
   * Ctrl-C reaches the shell too, and must not end it before this JVM, nor must an answer that this
   * JVM does not read any more. A killed child may still finish a system call that makes a file:
   * what cannot be deleted is tried once more.
   */
  private static final String GUARD =
      """
      trap '' HUP INT TERM PIPE
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
      rm -rf "$1" || { sleep 1; rm -rf "$1"; }
      """;

  /** Ends at once if this JVM dies before it writes the word. */
  private static final String CHILD = "read -r begin && exec \"$@\"";

  private static final int END_TIMEOUT_SECONDS = 10;

  private static final ReentrantLock LOCK = new ReentrantLock();
  private static @Nullable ProcessGuard running; // guarded by LOCK

  private final Path directory;
  private final Process shell;

  /** Starts the shell, which deletes the directory. */
  private ProcessGuard(Path directory) throws IOException {
    this.directory = directory;
    this.shell =
        new ProcessBuilder(SHELL, "-c", GUARD, SHELL, directory.toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
  }

  /** The directory for the files of all children; it does not outlive this JVM. */
  static Path directory() throws IOException {
    LOCK.lock();
    try {
      return running().directory;
    } finally {
      LOCK.unlock();
    }
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
      String answer = guard.shell.inputReader(US_ASCII).readLine();
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
      ProcessGuard guard = running();
      OutputStream orders = guard.shell.getOutputStream();
      orders.write((verb + " " + pid + "\n").getBytes(US_ASCII));
      orders.flush();
      return guard;
    } finally {
      LOCK.unlock();
    }
  }

  private static ProcessGuard running() throws IOException {
    ProcessGuard guard = running;
    if (guard == null) {
      Path directory = Files.createTempDirectory("mortise-redis-").toAbsolutePath();
      try {
        guard = new ProcessGuard(directory);
      } catch (IOException e) {
        Files.delete(directory);
        throw e;
      }
      running = guard;
      Runtime.getRuntime().addShutdownHook(new Thread(guard::end, "mortise-testkit-end-children"));
    }
    return guard;
  }

  /** The end of this JVM in order: returns when the shell has done its last work. */
  private void end() {
    try {
      shell.getOutputStream().close();
    } catch (IOException e) {
      // The shell has ended.
    }
    shell.onExit().completeOnTimeout(shell, END_TIMEOUT_SECONDS, TimeUnit.SECONDS).join();
  }
}
