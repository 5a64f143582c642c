package io.mortise.cli.run;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
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

  /**
   * Starts a command in the background of a shell that becomes another program, which never asks
   * for the status of its children. The shell itself might ask before that.
   */
  private static Process startBelowOneThatDoesNotAsk(String... shell) throws IOException {
    Process parent = new ProcessBuilder(shell).start();
    await()
        .atMost(LIMIT)
        .until(() -> parent.info().command().filter(name -> name.endsWith("/sleep")).isPresent());
    return parent;
  }

  private static ProcessHandle killed(ProcessHandle process) {
    process.destroyForcibly();
    await().atMost(LIMIT).until(() -> ProcessState.of(process.pid()).orElseThrow().zombie());
    return process;
  }

  @Test
  void aZombieDoesNotRunAndIsNoMemberThatRuns() throws Exception {
    Process parent = startBelowOneThatDoesNotAsk("setsid", "sh", "-c", "sleep 60 & exec sleep 60");
    try {
      ProcessHandle zombie = killed(parent.children().findFirst().orElseThrow());
      assertFalse(ProcessState.isRunning(zombie));
      long group = ProcessState.of(zombie.pid()).orElseThrow().group();
      assertEquals(parent.pid(), group);
      assertFalse(ProcessState.hasOnlyZombies(group), "its parent runs");
      assertTrue(new ProcessGroup(group).isAlive());
    } finally {
      parent.destroyForcibly();
    }
  }

  @Test
  void aGroupOfZombiesIsNotAlive() throws Exception {
    Process parent = startBelowOneThatDoesNotAsk("sh", "-c", "setsid sleep 60 & exec sleep 60");
    try {
      ProcessHandle leader = parent.children().findFirst().orElseThrow();
      ProcessGroup group = new ProcessGroup(leader.pid());
      await()
          .atMost(LIMIT)
          .until(() -> ProcessState.of(leader.pid()).orElseThrow().group() == leader.pid());
      assertTrue(group.isAlive());
      killed(leader);
      assertTrue(ProcessState.hasOnlyZombies(leader.pid()));
      assertFalse(group.isAlive());
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
