package io.mortise.cli.run;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.testkit.JavaProcess;
import io.mortise.testkit.RedisServer;
import java.io.BufferedReader;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What becomes of the command when its lock is lost. */
class RunLossTest extends RunFixture {
  @Test
  void aFixedLeaseEndsTheCommandWithTerm() throws Exception {
    JavaProcess run =
        run(
            "--lease",
            "5s",
            "fixed",
            "--",
            "sh",
            "-c",
            "trap 'echo cleaned up; exit 3' TERM; echo \"pid $$\"; sleep 60 & wait");
    long pid = awaitPid(run);
    assertEnds(
        124,
        run,
        "lock 'fixed' was lost: its lease of 5000 ms ran out",
        "use --at-least",
        "cleaned up");
    assertFalse(isAlive(pid));
    assertFalse(run.output().contains("killed"), run::output);
  }

  @Test
  void nobodyReadsStandardErrorAndTheCommandGetsTerm() throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(
            commandLine(
                "--lease",
                "5s",
                "unread",
                "--",
                "sh",
                "-c",
                "trap 'echo cleaned up; exit 0' TERM; yes >&2 & sleep 60 & wait"));
    builder.environment().put("MORTISE_REDIS", server.uri());
    Process run = builder.start();
    try (BufferedReader out = run.inputReader()) {
      assertEquals("cleaned up", out.readLine());
      assertTrue(run.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS));
      assertEquals(124, run.exitValue());
    } finally {
      run.destroyForcibly();
    }
  }

  @Test
  void aCommandThatIgnoresTermIsKilledWithAnOrphan() throws Exception {
    // The orphan's parent has ended, so only the process group finds it.
    JavaProcess run =
        run(
            "--lease",
            "5s",
            "--grace",
            "500ms",
            "stubborn",
            "--",
            "sh",
            "-c",
            "trap '' TERM; (sh -c 'echo \"pid $$\"; sleep 60; true' &); echo \"pid $$\"; sleep 60; true");
    long one = awaitPid(run);
    long other = awaitPid(run);
    assertTrue(isAlive(one) && isAlive(other));
    assertEnds(124, run, "KILL after 500 ms", "did not end at TERM; it was killed");
    await().atMost(LIMIT).until(() -> !isAlive(one) && !isAlive(other));
  }

  @Test
  void inTheForegroundItsChildrenAreEndedToo() throws Exception {
    JavaProcess run =
        run(
            "--foreground",
            "--lease",
            "5s",
            "--grace",
            "500ms",
            "foreground",
            "--",
            "sh",
            "-c",
            "trap '' TERM; sh -c 'echo \"pid $$\"; sleep 60; true'; true");
    long child = awaitPid(run);
    assertEnds(124, run, "did not end at TERM; it was killed");
    await().atMost(LIMIT).until(() -> !isAlive(child));
  }

  @Test
  void aStoppedCommandReceivesTerm() throws Exception {
    JavaProcess run =
        run(
            "--lease",
            "5s",
            "stopped",
            "--",
            "sh",
            "-c",
            "trap 'echo woke up; exit 0' TERM; echo \"pid $$\"; kill -s STOP $$; sleep 60");
    awaitPid(run);
    assertEnds(124, run, "woke up");
  }

  @Test
  void aDeletedKeyEndsTheCommandAtTheNextRenewal() throws Exception {
    JavaProcess run =
        run("--ttl", "6s", "deleted", "--", "sh", "-c", "echo \"pid $$\"; exec sleep 60");
    long pid = awaitPid(run);
    redis.del("deleted");
    assertEnds(124, run, "lock 'deleted' was lost: Redis does not know this hold any more");
    assertFalse(isAlive(pid));
    assertFalse(run.output().contains("[WARN]"), () -> "reported twice: " + run.output());
  }

  @Test
  void aForcedReleaseEndsTheCommand() throws Exception {
    JavaProcess run =
        run("--ttl", "6s", "forced", "--", "sh", "-c", "echo \"pid $$\"; exec sleep 60");
    awaitPid(run);
    assertTrue(client.lock("forced").forceUnlock());
    assertEnds(124, run, "lock 'forced' was lost");
  }

  @Test
  void aServerThatDiesEndsTheCommandWhenTheLeaseHasRunOut() throws Exception {
    try (RedisServer own = RedisServer.start()) {
      JavaProcess run =
          runOn(
              own.uri(),
              "--ttl",
              "6s",
              "dead",
              "--",
              "sh",
              "-c",
              "echo \"pid $$\"; exec sleep 100");
      long pid = awaitPid(run);
      own.kill();
      assertEnds(124, run, "lock 'dead' was lost");
      assertFalse(isAlive(pid));
    }
  }

  @Test
  void aReleaseThatRedisDoesNotConfirmLeavesTheStatusOfTheCommand() throws Exception {
    try (RedisServer own = RedisServer.start()) {
      JavaProcess run = runOn(own.uri(), "late", "--", "sh", "-c", "echo in; read x; exit 5");
      run.awaitLine("in", LIMIT);
      own.kill();
      run.send("go on");
      assertEnds(5, run, "release of lock 'late'; it stays until its lease ends");
    }
  }

  @Test
  void aLossThatIsFoundAtTheReleaseIsStatus124() throws Exception {
    JavaProcess run = run("found", "--", "sh", "-c", "echo in; read x");
    run.awaitLine("in", LIMIT);
    redis.del("found");
    run.send("go on");
    assertEnds(124, run, "lock 'found' was lost before the command ended");
  }
}
