package io.mortise.it.observability;

import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.it.support.ChildJvm;
import io.mortise.it.support.LoggedWarnings;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.JavaProcess;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a process prints that logs at INFO and above: one line for a loss, and none for a lock. */
@Timeout(180)
class QuietLogTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static List<String> printedBy(Class<?> main) {
    try (JavaProcess process =
        ChildJvm.builder(main)
            .jvmOptions("-Dorg.slf4j.simpleLogger.defaultLogLevel=info")
            .arguments(redis.uri(), Names.fresh())
            .start()) {
      assertEquals(0, process.awaitExit(Duration.ofMinutes(2)), process::output);
      return process.output().lines().toList();
    }
  }

  @Test
  void aBusyRunLogsNothing() {
    assertEquals(List.of("done"), printedBy(BusyProcess.class));
  }

  @Test
  void anOutageIsOneWarningHoweverManyHoldsThereAre() {
    LoggedWarnings.note();
    String name = Names.fresh();
    LockOptions options =
        LockOptions.builder()
            .lease(Duration.ofSeconds(9))
            .commandTimeout(Duration.ofSeconds(1))
            .build();
    try (FaultProxy proxy = FaultProxy.to(redis.server());
        LockClient client = LockClient.create(proxy.uri(), options)) {
      List<Lease> leases =
          IntStream.range(0, 20)
              .mapToObj(i -> client.lock(name + i).tryAcquire().orElseThrow())
              .toList();
      proxy.cut();
      until("all are at risk", () -> all(leases, Lease.State.AT_RISK));
      proxy.restore();
      until("all are held", () -> all(leases, Lease.State.HELD));

      List<String> warnings = LoggedWarnings.about("lock '" + name);
      assertEquals(1, warnings.size(), warnings::toString);
      assertTrue(warnings.get(0).contains("a renewal failed"), warnings::toString);
      leases.forEach(Lease::close);
    }
  }

  private static boolean all(List<Lease> leases, Lease.State state) {
    return leases.stream().allMatch(lease -> lease.state() == state);
  }

  @Test
  void aLossIsOneLine() {
    List<String> printed = printedBy(LossProcess.class);

    List<String> logged =
        printed.stream()
            .filter(line -> !line.startsWith("recorder") && !line.startsWith("lost"))
            .toList();
    assertEquals(1, logged.size(), printed::toString);
    assertTrue(logged.get(0).contains(" WARN "), logged::toString);
    assertTrue(logged.get(0).contains("is lost"), logged::toString);
  }
}
