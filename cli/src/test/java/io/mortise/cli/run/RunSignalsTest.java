package io.mortise.cli.run;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mortise.core.Lease;
import io.mortise.testkit.JavaProcess;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Signals that {@code mortise run} receives. */
class RunSignalsTest extends RunFixture {
  private static final String TRAPS =
      "trap 'echo got HUP' HUP; trap 'echo got INT; exit 6' INT; trap 'echo got TERM; exit 5' TERM;"
          + " echo in; while :; do sleep 0.1; done";

  @ParameterizedTest
  @CsvSource({"TERM, 5", "INT, 6"})
  void aSignalIsPassedOnAndTheLockIsReleasedAfterTheCommandHasEnded(String signal, int status)
      throws Exception {
    assumeTrue(isDefault(signal), "this JVM was started with SIG" + signal + " ignored");
    JavaProcess run = run("passed", "--", "sh", "-c", TRAPS);
    run.awaitLine("in", LIMIT);
    signal(signal, run.pid());
    assertEnds(status, run, "got " + signal);
    assertFalse(client.lock("passed").isLocked());
  }

  @Test
  void aCommandMayGoOnAfterASignal() throws Exception {
    assumeTrue(isDefault("HUP"), "this JVM was started with SIGHUP ignored");
    JavaProcess run = run("hung-up", "--", "sh", "-c", TRAPS);
    run.awaitLine("in", LIMIT);
    signal("HUP", run.pid());
    run.awaitLine("got HUP", LIMIT);
    assertTrue(client.lock("hung-up").isLocked());
    signal("TERM", run.pid());
    assertEnds(5, run);
  }

  @Test
  void inTheForegroundOnlyTermIsPassedOn() throws Exception {
    JavaProcess run = run("--foreground", "terminal", "--", "sh", "-c", TRAPS);
    run.awaitLine("in", LIMIT);
    signal("INT", run.pid());
    signal("TERM", run.pid());
    assertEnds(5, run, "got TERM");
    assertFalse(run.output().contains("got INT"), run::output);
  }

  @Test
  void aSignalEndsTheWaitAndTheCommandIsNotRun() throws Exception {
    try (Lease busy = client.lock("waited-for").tryAcquire().orElseThrow()) {
      JavaProcess run = run("waited-for", "--", "echo", "ran");
      await().atMost(LIMIT).until(() -> isWaitedFor("waited-for"));
      signal("TERM", run.pid());
      assertEnds(143, run, "SIGTERM arrived before lock 'waited-for' was acquired");
      assertFalse(run.output().contains("\nran"), run::output);
      assertTrue(busy.isValid());
    }
  }

  @Test
  void afterKillTheCommandGoesOnAndTheLockStaysUntilItsLeaseEnds() throws Exception {
    JavaProcess run = run("killed", "--", "sh", "-c", "echo \"pid $$\"; exec sleep 60");
    long pid = awaitPid(run);
    run.kill();
    assertTrue(isAlive(pid));
    assertTrue(client.lock("killed").remainingLease().isPresent());
    ProcessHandle.of(pid).orElseThrow().destroy();
    client.lock("killed").forceUnlock();
  }

  /**
   * Returns whether a child of this JVM can trap the signal: one ignored at its start it cannot.
   */
  private static boolean isDefault(String signal) throws Exception {
    Process shell =
        new ProcessBuilder(
                "sh", "-c", "trap 'exit 1' " + signal + "; kill -s " + signal + " $$; exit 0")
            .start();
    assertTrue(shell.waitFor(10, TimeUnit.SECONDS));
    return shell.exitValue() == 1;
  }
}
