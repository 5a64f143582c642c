package io.mortise.cli.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What Linux says of a process in {@code /proc}, see <a
 * href="https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html">proc_pid_stat(5)</a>.
 *
 * <p>A process that has ended is a zombie until its parent has asked for its status. When the
 * parent has ended too, process 1 does that: in some containers after seconds, in others never.
 *
 * @param zombie whether it has ended
 * @param group the id of its group
 */
record ProcessState(boolean zombie, long group) {
  private static final int GROUP = 2;

  /** Returns the state; empty if there is no such process, or this system does not say. */
  static Optional<ProcessState> of(long pid) {
    try {
      String line = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
      // Behind the name, which may have spaces and brackets: the state, the parent, the group.
      String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ", GROUP + 2);
      return Optional.of(new ProcessState("ZX".contains(fields[0]), Long.parseLong(fields[GROUP])));
    } catch (IOException | RuntimeException unknown) {
      return Optional.empty();
    }
  }

  /** Returns whether the process runs. */
  static boolean isRunning(ProcessHandle process) {
    return process.isAlive() && !of(process.pid()).map(ProcessState::zombie).orElse(false);
  }

  /** Returns whether all members of a group that can be seen are zombies, and there are some. */
  static boolean hasOnlyZombies(long group) {
    return ProcessHandle.allProcesses()
        .flatMap(process -> of(process.pid()).stream())
        .filter(state -> state.group() == group)
        .map(ProcessState::zombie)
        .reduce(Boolean::logicalAnd)
        .orElse(false);
  }
}
