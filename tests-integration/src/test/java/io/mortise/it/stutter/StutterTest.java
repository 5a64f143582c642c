package io.mortise.it.stutter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.testkit.HoldChecker;
import io.mortise.testkit.JavaProcess;
import io.mortise.testkit.RedisServer;
import io.mortise.testkit.Stutter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A process is paused for 5 to 50 ms several times a second, as by garbage collections: each of its
 * threads acquires the lock again and again, and the locks exclude. {@code
 * -Dmortise.stutter.seed=1} chooses the pauses, {@code -Dmortise.stutter.seconds=60} the length.
 */
@Tag("alone")
class StutterTest {

  /** Without the pauses, no thread waits for more than a fraction of it. */
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(5);

  private static final Duration LIVENESS = Duration.ofSeconds(30);
  private static final Pattern WORKER = Pattern.compile("worker (\\S+) \\S+ cycles (\\d+) .*");

  @ParameterizedTest
  @EnumSource
  @Timeout(600)
  void everyThreadAcquiresAgainAndAgainWhileTheProcessStutters(
      ContendedLock lock, @TempDir Path log) throws Exception {
    long seed = Long.getLong("mortise.stutter.seed", System.nanoTime() & Integer.MAX_VALUE);
    List<RedisServer> servers = new ArrayList<>();
    try {
      for (int i = 0; i < lock.servers(); i++) {
        servers.add(RedisServer.start());
      }
      contend(lock, log, seed, servers.stream().map(RedisServer::uri).toList());
    } catch (Exception | AssertionError e) {
      throw new AssertionError("with the seed %d: %s".formatted(seed, e.getMessage()), e);
    } finally {
      servers.forEach(RedisServer::close);
    }
    HoldChecker.Report report = HoldChecker.check(log);
    report.assertSafe();
    assertEquals(0, report.unfinished());
  }

  /** Shared holds are handed off in more ways than others, some of them rare. */
  private static int seconds(ContendedLock lock) {
    return Integer.getInteger("mortise.stutter.seconds", lock == ContendedLock.READ_WRITE ? 15 : 5);
  }

  private static void contend(ContendedLock lock, Path log, long seed, List<String> uris)
      throws InterruptedException {
    int seconds = seconds(lock);
    try (JavaProcess child =
        JavaProcess.builder(StutteringClient.class)
            .arguments(lock.name(), log.toString(), Integer.toString(seconds * 1000))
            .arguments(Long.toString(LONGEST_WAIT.toMillis()))
            .arguments(uris.toArray(String[]::new))
            .start()) {
      child.awaitLine("begun", LIVENESS);
      int pauses;
      Duration longest;
      try (Stutter stutter = Stutter.start(seed, child)) {
        child.awaitLine("done", LIVENESS.plusSeconds(seconds));
        pauses = stutter.pauses();
        longest = stutter.longest();
      }
      assertEquals(0, child.awaitExit(LIVENESS), child::output);
      Map<String, Long> cycles = cycles(child.output());
      System.out.printf(
          "%s: %d pauses, the longest of %d ms; cycles %s%n",
          lock, pauses, longest.toMillis(), cycles);
      assertTrue(pauses >= seconds, () -> pauses + " pauses");
      assertTrue(cycles.size() > 1, child::output);
      cycles.forEach((worker, count) -> assertTrue(count > 0, child::output));
    }
  }

  private static Map<String, Long> cycles(String output) {
    return output
        .lines()
        .map(WORKER::matcher)
        .filter(Matcher::matches)
        .collect(
            Collectors.toMap(worker -> worker.group(1), worker -> Long.parseLong(worker.group(2))));
  }
}
