package io.mortise.cli.run;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A process group that a command was made the leader of, by {@code setsid}. Its members are the
 * command and the processes that it starts, also those whose parent has ended, unless they make a
 * group of their own.
 *
 * <p>Java cannot send a signal to a group: a shell does. Signalling takes a few milliseconds.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 */
final class ProcessGroup {
  private static final String SHELL = "/bin/sh";
  private static final long SIGNAL_SECONDS = 10;

  /** What POSIX says of ESRCH; of a process of another user it says something else. */
  private static final String NO_PROCESS = "No such process";

  private final long leader;

  ProcessGroup(long leader) {
    this.leader = leader;
  }

  /** Returns the command line that runs a command as the leader of a group; empty without one. */
  static Optional<List<String>> leading(List<String> command) {
    return CommandLookUp.onPath("setsid")
        .filter(setsid -> Path.of(SHELL).toFile().canExecute())
        .map(
            setsid -> {
              List<String> line = new ArrayList<>(command.size() + 2);
              line.add(setsid.toString());
              line.add("--");
              line.addAll(command);
              return line;
            });
  }

  /** The answer of a shell about a signal. */
  private enum Answer {
    SENT,
    /** There is no process to send it to. */
    NONE,
    /** It was not allowed, or no shell could be asked. */
    NOT_KNOWN
  }

  /**
   * Sends a signal to all members. Until {@code setsid} has made the group, a moment after its
   * start, the signal goes to {@code setsid}.
   *
   * @return false if there is no process to send it to, if none may be signalled, or if no shell
   *     can be started
   */
  boolean signal(ProcessSignal signal) {
    return kill("kill -s \"$1\" -- \"-$2\" 2>/dev/null || kill -s \"$1\" \"$2\"", signal.name())
        == Answer.SENT;
  }

  /** Returns whether a member runs; true also if that cannot be found out. */
  boolean isAlive() {
    Answer answer = kill("kill -s \"$1\" -- \"-$2\"", "0");
    return answer == Answer.NOT_KNOWN
        || (answer == Answer.SENT && !ProcessState.hasOnlyZombies(leader));
  }

  private Answer kill(String script, String signal) {
    try {
      ProcessBuilder builder =
          new ProcessBuilder(SHELL, "-c", script, "mortise", signal, Long.toString(leader))
              .redirectOutput(Redirect.DISCARD);
      builder.environment().put("LC_ALL", "C"); // the message is read below
      Process shell = builder.start();
      shell.getOutputStream().close();
      if (!shell.waitFor(SIGNAL_SECONDS, TimeUnit.SECONDS)) {
        return Answer.NOT_KNOWN;
      }
      String message = new String(shell.getErrorStream().readAllBytes(), UTF_8);
      return shell.exitValue() == 0
          ? Answer.SENT
          : message.contains(NO_PROCESS) ? Answer.NONE : Answer.NOT_KNOWN;
    } catch (IOException e) {
      return Answer.NOT_KNOWN; // the caller signals the processes that it knows
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Answer.NOT_KNOWN;
    }
  }
}
