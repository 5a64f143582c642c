package io.mortise.cli.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.cli.worker.WorkerEvent.Failed;
import io.mortise.cli.worker.WorkerEvent.Ready;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class WorkersTest {
  private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(20);

  private static WorkerEvent next(Workers workers) throws InterruptedException {
    WorkerReport report = workers.nextReport(TIMEOUT_NANOS);
    assertNotNull(report, "no report");
    return report.event();
  }

  @Test
  void aWorkerThatCannotDoItsJobSaysWhy() throws InterruptedException {
    try (Workers workers = new Workers(1, "io.mortise.cli.demo.WorkerMain")) {
      workers.startMissing();
      assertInstanceOf(Ready.class, next(workers));
      workers.send(
          0,
          new WorkerRequest.Prepare(
              new Job(
                  "crash",
                  "seller",
                  "redis://127.0.0.1:1",
                  List.of("redis://127.0.0.1:1"),
                  "x",
                  1,
                  1,
                  1,
                  1000)));
      WorkerEvent event = next(workers);
      while (!(event instanceof Failed)) {
        event = next(workers); // its log
      }
      assertTrue(((Failed) event).message().contains("127.0.0.1:1"), event::toString);
    }
  }

  @Test
  void aProcessThatEndsByItselfIsAFailure() throws InterruptedException {
    try (Workers workers = new Workers(1, "no.such.Main")) {
      workers.startMissing();
      WorkerEvent event = next(workers);
      while (!(event instanceof Failed)) {
        event = next(workers); // what Java says about the class
      }
      assertEquals(new Failed("the process ended with status 1"), event);
    }
  }

  @Test
  void aSuspendedWorkerStandsStillUntilTheSuspensionIsClosed() throws Exception {
    try (Workers workers = new Workers(1, "io.mortise.cli.demo.WorkerMain")) {
      workers.startMissing();
      assertInstanceOf(Ready.class, next(workers));
      Suspension suspension = workers.suspend(0);
      workers.send(0, new WorkerRequest.Go());
      assertNull(workers.nextReport(TimeUnit.MILLISECONDS.toNanos(300)));
      suspension.close();
      WorkerEvent event = next(workers);
      while (!(event instanceof Failed)) {
        event = next(workers);
      }
      assertTrue(((Failed) event).message().contains("no job"), event::toString);
    }
  }

  @Test
  void aWorkerEndsWithItsInput() throws Exception {
    Process worker =
        new ProcessBuilder(
                System.getProperty("java.home") + "/bin/java",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                "io.mortise.cli.demo.WorkerMain")
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      assertInstanceOf(Ready.class, JsonLines.event(worker.inputReader().readLine()));
      worker.outputWriter().close();
      assertTrue(worker.waitFor(10, TimeUnit.SECONDS));
      assertEquals(0, worker.exitValue());
    } finally {
      worker.destroyForcibly();
    }
  }
}
