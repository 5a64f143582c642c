package io.mortise.cli.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.mortise.cli.worker.Job;
import io.mortise.cli.worker.Stock;
import io.mortise.cli.worker.WorkerEvent;
import io.mortise.cli.worker.WorkerEvent.Finished;
import io.mortise.cli.worker.WorkerEvent.Held;
import io.mortise.cli.worker.WorkerEvent.Ready;
import io.mortise.cli.worker.WorkerReport;
import io.mortise.cli.worker.WorkerRequest;
import io.mortise.cli.worker.Workers;
import io.mortise.testkit.RedisServer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.RedisClient;

class FaultedWorkerTest {
  private static final int STOCK = 20;
  private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(20);
  private static final long SILENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

  /** The victim may take any time to enter: here it never does. */
  @Test
  void theOthersKeepHalfOfTheStockUntilTheyMayProceed() throws Exception {
    try (RedisServer server = RedisServer.start();
        RedisClient redis = RedisClient.create(server.uri());
        Workers workers = new Workers(2, "io.mortise.cli.demo.WorkerMain")) {
      int other = FaultedWorker.WORKER + 1;
      Stock stock = new Stock(redis, "sale");
      stock.write(STOCK);
      workers.startMissing();
      for (int ready = 0; ready < 2; ) { // its events come no later
        if (next(workers) instanceof Ready) {
          ready++;
        }
      }
      workers.send(
          other,
          new WorkerRequest.Prepare(
              new Job(
                  "crash",
                  FaultedWorker.roles(2).get(other),
                  server.uri(),
                  List.of(server.uri()),
                  "sale",
                  STOCK,
                  1,
                  2 * STOCK,
                  10_000)));
      workers.send(other, new WorkerRequest.Go());

      for (int sold = 0; sold < STOCK / 2; ) {
        if (next(workers) instanceof Held) {
          sold++;
        }
      }
      assertNull(workers.nextReport(SILENCE_NANOS));
      assertEquals(STOCK / 2, stock.read());

      workers.send(other, new WorkerRequest.Proceed());
      WorkerEvent event = next(workers);
      while (!(event instanceof Finished)) {
        event = next(workers);
      }
      assertEquals(0, stock.read());
    }
  }

  private static WorkerEvent next(Workers workers) throws InterruptedException {
    WorkerReport report = workers.nextReport(TIMEOUT_NANOS);
    assertNotNull(report, "no report");
    return report.event();
  }
}
