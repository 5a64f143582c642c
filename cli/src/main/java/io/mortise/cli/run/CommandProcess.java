package io.mortise.cli.run;

import io.mortise.cli.options.CommandFailure;
import io.mortise.cli.options.ExitStatus;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The running command: passes signals on to it, and ends it together with the processes that it
 * started.
 *
 * <p>In a <em>group</em> of its own the command and its processes receive every signal. The group
 * is a session too, so it has no terminal. In the <em>foreground</em> the command stays in the
 * group of this process: it may read from the terminal, and the terminal sends Ctrl-C and a hang-up
 * to both, so only TERM is passed on. Its processes are then found by their parents; one whose
 * parent has ended is not found.
 *
 * <p><b>Threads.</b> Any thread may call it.
 */
final class CommandProcess {
  private static final long POLL_MILLIS = 50;

  /** How long processes may take to end after KILL. */
  private static final Duration AFTER_KILL = Duration.ofSeconds(2);

  /** The way in which processes ended. */
  enum Ending {
    TERM,
    KILL,
    /** KILL did not end all of them: they run as another user, or hang in the kernel. */
    NONE
  }

  private final Process process;
  private final @Nullable ProcessGroup group;

  CommandProcess(Process process, @Nullable ProcessGroup group) {
    this.process = process;
    this.group = group;
  }

  /**
   * Starts the command, with the standard streams of this process.
   *
   * @param environment variables beside those of this process
   * @param foreground whether it stays in the group of this process; it does too where there is no
   *     {@code setsid}
   * @throws CommandFailure if it cannot be executed
   * @throws StartInDoubtException if it may have been started, and is not known
   */
  static CommandProcess start(
      List<String> command, Map<String, String> environment, boolean foreground) {
    Optional<List<String>> leading = foreground ? Optional.empty() : ProcessGroup.leading(command);
    ProcessBuilder builder = new ProcessBuilder(leading.orElse(command)).inheritIO();
    builder.environment().putAll(environment);
    try {
      Process process = builder.start();
      return new CommandProcess(
          process, leading.isPresent() ? new ProcessGroup(process.pid()) : null);
    } catch (Error e) { // as when there is no thread left that waits for its end
      throw new StartInDoubtException(e);
    } catch (IOException e) {
      throw new CommandFailure(
          ExitStatus.RUN_NOT_EXECUTABLE,
          "'%s' cannot be executed: %s; check that it is a program of this machine"
              .formatted(command.get(0), e.getMessage()),
          e);
    }
  }

  /** Completes when the command has ended; other processes of its group may go on. */
  CompletableFuture<Process> onExit() {
    return process.onExit();
  }

  /** Returns whether the command runs. */
  boolean isRunning() {
    return process.isAlive();
  }

  /** Returns the exit status; 128 and the number of the signal that ended the command. */
  int exitStatus() {
    return process.exitValue();
  }

  /**
   * Passes on a signal that this process has received. In the foreground all but TERM come from the
   * terminal, and need not be sent.
   *
   * @return false if the command runs and did not get the signal
   */
  boolean passOn(ProcessSignal signal) {
    if (group == null && signal != ProcessSignal.TERM) {
      return true;
    }
    boolean sent = group != null && group.signal(signal);
    if (!sent && signal == ProcessSignal.TERM) {
      sent = process.toHandle().destroy();
    }
    return sent || !process.isAlive();
  }

  /** Kills the command alone, and waits for its end; interrupts are kept for later. */
  void killAndWait() {
    process.destroyForcibly();
    awaitUninterruptibly();
  }

  /** Waits for the end of the command; interrupts are kept for later. */
  void awaitUninterruptibly() {
    process.onExit().join(); // which an interrupt does not end
  }

  /**
   * Ends the command and the processes that it started: TERM, and KILL for those that are there
   * when the grace is over. Returns when they have ended, or soon after KILL.
   *
   * @param atTerm runs when TERM has been sent; must not block
   */
  Ending end(Duration grace, Runnable atTerm) throws InterruptedException {
    Set<ProcessHandle> known = terminate();
    atTerm.run();
    if (awaitEnd(known, grace)) {
      return Ending.TERM;
    }
    kill(known);
    return awaitEnd(known, AFTER_KILL) ? Ending.KILL : Ending.NONE;
  }

  /** Sends TERM, and returns the processes that are known. */
  private Set<ProcessHandle> terminate() {
    Set<ProcessHandle> known = new LinkedHashSet<>();
    collect(known);
    if (group == null || !group.signal(ProcessSignal.TERM)) {
      known.forEach(ProcessHandle::destroy);
    } else {
      group.signal(ProcessSignal.CONT);
    }
    return known;
  }

  private boolean awaitEnd(Set<ProcessHandle> known, Duration time) throws InterruptedException {
    long begin = System.nanoTime();
    while (isAlive(known)) {
      if (System.nanoTime() - begin >= time.toNanos()) {
        return false;
      }
      if (!process.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
        collect(known);
      } else {
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      }
    }
    return true;
  }

  private void collect(Set<ProcessHandle> known) {
    known.add(process.toHandle());
    if (group == null) {
      process.descendants().forEach(known::add);
    }
  }

  private boolean isAlive(Set<ProcessHandle> known) {
    return known.stream().anyMatch(ProcessState::isRunning) || (group != null && group.isAlive());
  }

  private void kill(Set<ProcessHandle> known) {
    if (group != null) {
      group.signal(ProcessSignal.KILL);
    }
    known.forEach(ProcessHandle::destroyForcibly);
  }
}
