package io.mortise.cli.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A signal that does not reach the command is reported. */
@Timeout(60)
class SignalRelayTest {
  private final List<String> said = new ArrayList<>();
  private final SignalRelay relay = new SignalRelay(Thread.currentThread(), said::add);

  private static Process sleeper() throws Exception {
    return new ProcessBuilder("sleep", "60").start();
  }

  private static long endedProcess() throws Exception {
    Process process = new ProcessBuilder("true").start();
    assertTrue(process.waitFor(20, TimeUnit.SECONDS));
    return process.pid();
  }

  @ParameterizedTest
  @EnumSource(names = {"INT", "HUP"})
  void aSignalThatCannotBeSentIsSaid(ProcessSignal signal) throws Exception {
    Process process = sleeper();
    ProcessGroup unreachable = new ProcessGroup(endedProcess());
    try {
      relay.start("lock", () -> new CommandProcess(process, unreachable));

      relay.receive(signal);

      assertEquals(1, said.size(), said::toString);
      assertTrue(said.get(0).contains("SIG" + signal + " could not be passed on"), said::toString);
      assertTrue(process.isAlive());
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void termFindsTheCommandWithoutItsGroup() throws Exception {
    Process process = sleeper();
    ProcessGroup unreachable = new ProcessGroup(endedProcess());
    try {
      relay.start("lock", () -> new CommandProcess(process, unreachable));

      relay.receive(ProcessSignal.TERM);

      assertTrue(process.waitFor(20, TimeUnit.SECONDS));
      assertEquals(List.of(), said);
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void ofACommandThatHasEndedNothingIsSaid() throws Exception {
    Process process = new ProcessBuilder("true").start();
    assertTrue(process.waitFor(20, TimeUnit.SECONDS));
    relay.start("lock", () -> new CommandProcess(process, new ProcessGroup(process.pid())));

    relay.receive(ProcessSignal.INT);

    assertEquals(List.of(), said);
  }

  @Test
  void inTheForegroundTheTerminalSendsTheOthers() throws Exception {
    Process process = sleeper();
    try {
      relay.start("lock", () -> new CommandProcess(process, null));

      relay.receive(ProcessSignal.INT);

      assertEquals(List.of(), said);
      assertTrue(process.isAlive());
    } finally {
      process.destroyForcibly();
    }
  }
}
