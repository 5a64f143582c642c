package io.mortise.cli.run;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.JavaProcess;
import io.mortise.testkit.RedisServer;
import java.io.BufferedReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a command and its caller see while all goes well, and when the lock is busy. */
class RunUnderLockTest extends RunFixture {
  @Test
  void theCommandRunsWhileTheLockIsHeldAndKnowsItsToken() throws Exception {
    JavaProcess run =
        run("held", "--", "sh", "-c", "echo \"$MORTISE_LOCK $MORTISE_TOKEN\"; read x");
    String line = run.awaitLine("held ", LIMIT);
    assertTrue(client.lock("held").isLocked());
    run.send("go on");
    assertEnds(0, run);

    assertFalse(client.lock("held").isLocked());
    long token = Long.parseLong(line.substring("held ".length()));
    try (Lease next = client.lock("held").tryAcquire().orElseThrow()) {
      assertTrue(next.fencingToken() > token);
    }
  }

  @Test
  void theStatusIsThatOfTheCommand() {
    assertEnds(7, run("status", "--", "sh", "-c", "exit 7"));
    assertEnds(137, run("status", "--", "sh", "-c", "kill -9 $$"));
    assertFalse(client.lock("status").isLocked());
  }

  @Test
  void aCommandThatIsNotThereIsKnownBeforeTheLockIsAcquired() {
    try (Lease busy = client.lock("nothing").tryAcquire().orElseThrow()) {
      assertEnds(
          127, run("nothing", "--", "no-such-command"), "'no-such-command' is not on the PATH");
      assertEnds(127, run("nothing", "--", "/no/such"), "there is no command '/no/such'");
      assertEnds(126, run("nothing", "--", "/"), "is no file that may be executed");
      assertTrue(busy.isValid());
    }
  }

  @Test
  void aBusyLockIsStatus123AndTheCommandDoesNotRun() {
    try (Lease busy = client.lock("busy").tryAcquire().orElseThrow()) {
      JavaProcess once = run("--wait", "0", "busy", "--", "echo", "ran");
      JavaProcess other = run("--wait", "0", "-q", "-E", "0", "busy", "--", "echo", "ran");
      assertEnds(123, once, "lock 'busy' is held by another owner");
      assertEquals("", patientIsRefused().output());
      assertEnds(0, other);
      assertFalse(once.output().contains("ran"), once::output);
      assertTrue(busy.isValid());
    }
  }

  /** Redis has 200 ms for the last answer; this machine may stand still for that long. */
  private JavaProcess patientIsRefused() {
    JavaProcess patient = run("--wait", "3s", "-q", "busy", "--", "echo", "ran");
    for (int i = 0; i < 3 && patient.awaitExit(LIMIT) == 122; i++) {
      assertEnds(122, patient, "did not answer in time");
      patient = run("--wait", "3s", "-q", "busy", "--", "echo", "ran");
    }
    assertEnds(123, patient);
    return patient;
  }

  @Test
  void withoutALimitItWaitsUntilTheLockIsFree() throws Exception {
    JavaProcess first = run("queue", "--", "sh", "-c", "echo in; read x");
    first.awaitLine("in", LIMIT);
    JavaProcess second = run("queue", "--", "echo", "my turn");
    await().atMost(LIMIT).until(() -> isWaitedFor("queue"));
    assertEquals("", second.output());
    first.send("go on");
    assertEnds(0, first);
    assertEnds(0, second, "my turn");
  }

  @Test
  void theLockStaysBusyForItsMinimum() {
    assertEnds(0, run("--at-least", "1h", "minimum", "--", "true"));
    Duration rest = client.lock("minimum").remainingLease().orElseThrow();
    assertTrue(rest.compareTo(Duration.ofMinutes(50)) > 0, rest::toString);
    client.lock("minimum").forceUnlock();
  }

  @ParameterizedTest
  @CsvSource({"--fair", "--read", "--write"})
  void eachKindIsTheLockOfThatKind(String kind) throws Exception {
    JavaProcess run = run(kind, "kind" + kind, "--", "sh", "-c", "echo in; read x");
    run.awaitLine("in", LIMIT);
    String name = "kind" + kind;
    switch (kind) {
      case "--fair" -> assertTrue(new RedisFairLock(client, name).tryAcquire().isEmpty());
      case "--read" -> {
        new RedisReadWriteLock(client, name).readLock().tryAcquire().orElseThrow().close();
        assertTrue(new RedisReadWriteLock(client, name).writeLock().tryAcquire().isEmpty());
      }
      default -> assertTrue(new RedisReadWriteLock(client, name).readLock().tryAcquire().isEmpty());
    }
    run.send("go on");
    assertEnds(0, run);
  }

  @Test
  void aNameMayBeginWithADashAndArgumentsArriveAsTheyAre() {
    JavaProcess run =
        run("--", "-odd", "--", "printf", "<%s>", "-v", "a b", "", "@file", "${HOME}", "'q'", "--");
    assertEnds(0, run, "<-v><a b><><@file><${HOME}><'q'><-->");
    assertEnds(0, run("--namespace", "n:", "--", "-odd", "printenv", "MORTISE_LOCK"), "n:-odd");
  }

  @Test
  void aQuorumHoldsWithOneDeadNodeAndNotWithTwo() {
    try (RedisServer second = RedisServer.start();
        RedisServer third = RedisServer.start()) {
      String uris = server.uri() + " " + second.uri() + " " + third.uri();
      third.kill();
      assertEnds(
          0,
          runOn(uris, "quorum", "--", "sh", "-c", "echo token $MORTISE_TOKEN for $MORTISE_LOCK"),
          "token 1",
          "for quorum");
      second.kill();
      assertEnds(122, runOn(uris, "--wait", "0", "quorum", "--", "echo", "ran"), "mortise: ");
    }
  }

  @ParameterizedTest
  @CsvSource({"--ttl, 30s, 1000", "--ttl, 2s, 500", "--lease, 2s, 500"})
  void aNodeOfAQuorumHasASecondToAnswerAndAtMostAQuarterOfTheLease(
      String option, String lease, int millis) {
    try (RedisServer second = RedisServer.start();
        RedisServer third = RedisServer.start()) {
      String uris = server.uri() + " " + second.uri() + " " + third.uri();
      second.pause();
      third.pause();
      assertEnds(
          122,
          runOn(uris, "--wait", "0", option, lease, "quorum", "--", "echo", "ran"),
          "did not answer within its budget of " + millis + " ms");
    }
  }

  @Test
  void aNameThatTheLocaleCannotExpressIsRefused() throws Exception {
    assertEndsInTheLocaleC(
        "exec \"$@\" \"$(printf 'caf\\303\\251')\" -- echo ran", 125, "set LC_ALL=C.UTF-8");
  }

  @Test
  void aFolderOfThePathThatTheLocaleCannotExpressHidesNoOther() throws Exception {
    String path = "PATH=\"$(printf '/caf\\303\\251'):$PATH\"; export PATH; ";
    assertEndsInTheLocaleC(path + "exec \"$@\" there -- echo ran", 0, "ran");
    assertEndsInTheLocaleC(
        path + "exec \"$@\" there -- no-such-command", 127, "set LC_ALL=C.UTF-8");
  }

  /** A shell makes the bytes: a test in the locale C could not pass them on. */
  private void assertEndsInTheLocaleC(String script, int status, String part) throws Exception {
    List<String> shell = new ArrayList<>(List.of("sh", "-c", script, "sh"));
    shell.addAll(commandLine());
    ProcessBuilder builder = new ProcessBuilder(shell).redirectErrorStream(true);
    builder.environment().put("LC_ALL", "C");
    builder.environment().put("MORTISE_REDIS", server.uri());
    Process run = builder.start();
    try (BufferedReader out = run.inputReader()) {
      String line = String.valueOf(out.readLine());
      assertTrue(line.contains(part), line);
      assertTrue(run.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS));
      assertEquals(status, run.exitValue());
    } finally {
      run.destroyForcibly();
    }
  }

  @Test
  void aGraceThatWouldOverflowIsRefusedBeforeTheStart() {
    JavaProcess run = run("--grace", "PT99999999999H", "long", "--", "echo", "ran");
    assertEnds(125, run, "is too long; the maximum is 365d");
    assertFalse(run.output().contains("\nran"), run::output);
  }

  @Test
  void aWrongUriOfTheVariableIsCalledByItsName() {
    assertEnds(125, runOn("no-uri", "x", "--", "true"), "mortise: MORTISE_REDIS: a Redis URI");
  }

  @Test
  void twoAddressesOfOneServerAreNoErrorOfTheProgram() {
    String uri = server.uri().toString();
    JavaProcess run = runOn(uri + " " + uri.replace("127.0.0.1", "localhost"), "x", "--", "true");
    assertEnds(125, run, "mortise: lock 'x': members ", " are on one server");
  }

  @Test
  void redisThatIsNotThereIsStatus122() {
    JavaProcess run = runOn("redis://:secret@127.0.0.1:1", "--wait", "0", "x", "--", "true");
    assertEnds(122, run, "127.0.0.1:1 refuses the connection");
    assertFalse(run.output().contains("secret"), run::output);
  }
}
