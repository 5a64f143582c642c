package io.mortise.cli.run;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** A process that has ended does not run, although nobody has asked for its status. */
@Timeout(60)
@EnabledOnOs(OS.LINUX)
class ProcessStateTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  /** Its parent stands still before it can ask. */
  @Test
  void aZombieDoesNotRunAndIsNoMemberThatRuns() throws Exception {
    Process parent =
        new ProcessBuilder("setsid", "sh", "-c", "sleep 0 & echo $!; kill -s STOP $$; sleep 60")
            .start();
    try {
      long zombie = Long.parseLong(parent.inputReader().readLine());
      await()
          .atMost(LIMIT)
          .until(() -> ProcessState.of(zombie).map(ProcessState::zombie).orElse(false));
      ProcessHandle handle = ProcessHandle.of(zombie).orElseThrow();
      assertFalse(ProcessState.isRunning(handle));
      long group = ProcessState.of(zombie).orElseThrow().group();
      assertFalse(ProcessState.hasOnlyZombies(group), "its parent is stopped, and no zombie");
    } finally {
      parent.destroyForcibly();
    }
  }

  /** Its leader has ended, and the parent of that stands still. */
  @Test
  void aGroupOfZombiesIsNotAlive() throws Exception {
    Process parent =
        new ProcessBuilder("sh", "-c", "setsid true & echo $!; kill -s STOP $$; sleep 60").start();
    try {
      long leader = Long.parseLong(parent.inputReader().readLine());
      await().atMost(LIMIT).until(() -> ProcessState.hasOnlyZombies(leader));
      assertFalse(new ProcessGroup(leader).isAlive());
    } finally {
      parent.destroyForcibly();
    }
  }

  @Test
  void aProcessRunsUntilItHasEnded() throws Exception {
    Process process = new ProcessBuilder("sleep", "60").start();
    assertTrue(ProcessState.isRunning(process.toHandle()));
    process.destroyForcibly().waitFor();
    assertFalse(ProcessState.isRunning(process.toHandle()));
    assertEquals(Optional.empty(), ProcessState.of(process.pid()));
  }
}
