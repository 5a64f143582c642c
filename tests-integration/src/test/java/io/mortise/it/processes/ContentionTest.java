package io.mortise.it.processes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.it.support.ChildJvm;
import io.mortise.it.support.Names;
import io.mortise.testkit.HoldChecker;
import io.mortise.testkit.JavaProcess;
import io.mortise.testkit.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Processes contend for one lock around an update that is not atomic. */
class ContentionTest {
  private static final int PROCESSES = 3;
  private static final Duration TIMEOUT = Duration.ofSeconds(80);

  @Test
  @Timeout(90)
  void severalProcessesLoseNoUpdateAndTheirTokensIncrease(@TempDir Path log) throws Exception {
    String name = Names.fresh();
    String counter = "counter:" + name;
    try (RedisServer server = RedisServer.start()) {
      List<JavaProcess> children = new ArrayList<>();
      try {
        for (int i = 0; i < PROCESSES; i++) {
          children.add(
              ChildJvm.start(CounterProcess.class, server.uri(), name, counter, log.toString()));
        }
        for (JavaProcess child : children) {
          child.awaitLine("done", TIMEOUT);
          assertEquals(0, child.awaitExit(TIMEOUT), child::output);
        }
      } finally {
        children.forEach(JavaProcess::close);
      }
      int cycles = PROCESSES * CounterProcess.THREADS * CounterProcess.CYCLES;
      assertEquals(Integer.toString(cycles), server.command("GET", counter));
      HoldChecker.Report report = HoldChecker.check(log);
      assertEquals(cycles, report.holds());
      assertEquals(PROCESSES, report.holdsByProcess().size());
      report.assertSafe();
    }
  }
}
