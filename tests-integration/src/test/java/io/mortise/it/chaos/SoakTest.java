package io.mortise.it.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.testkit.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * All locks with default options under mild faults, for the time that {@code -Dmortise.soak=PT2H}
 * gives: nothing grows, and all checks of the {@link ChaosTest} hold. A table of the samples is in
 * {@code target/soak}.
 */
@Tag("alone")
@EnabledIfSystemProperty(named = "mortise.soak", matches = ".+", disabledReason = "takes minutes")
class SoakTest {
  private static final Path DIRECTORY = Path.of("target", "soak").toAbsolutePath();
  private static final Duration TIME = Duration.parse(System.getProperty("mortise.soak", "PT2M"));

  /** Faults that a client gets over within a fraction of a second. */
  private static final List<Fault> FAULTS =
      List.of(
          Fault.CLIENT_STUTTERS,
          Fault.CLIENT_CLOSED,
          Fault.SERVER_STUTTERS,
          Fault.ONE_REPLY_LOST,
          Fault.SCRIPTS_FLUSHED,
          Fault.SUBSCRIBERS_KILLED);

  @Test
  void nothingGrowsWhileAllLocksWorkUnderMildFaults() throws Exception {
    long seed = Long.getLong("mortise.soak.seed", System.nanoTime() & Integer.MAX_VALUE);
    Settings settings = Settings.soak(seed, TIME);
    OutputDirectory.makeEmpty(DIRECTORY);
    List<SoakSamples> samples = new ArrayList<>();
    List<String> violations = new ArrayList<>();
    List<Findings> findings;
    try (RedisServer guarded = RedisServer.start()) {
      List<ChaosRun> runs = new ArrayList<>();
      for (TestedLock tested : settings.locks()) {
        SoakSamples ofLock = new SoakSamples(tested);
        samples.add(ofLock);
        Iterator<Round> rounds =
            rounds(tested, settings, new Random(seed + runs.size())).iterator();
        runs.add(new ChaosRun(tested, rounds, settings, guarded, DIRECTORY, ofLock::take));
      }
      findings = ChaosRun.runAll(runs, settings.parallel(), violations);
    }
    StringBuilder table = new StringBuilder(SoakSamples.head());
    samples.forEach(ofLock -> table.append(ofLock.row()));
    table.append("\n").append(FindingsTable.total(findings));
    System.out.println(table);
    Files.writeString(DIRECTORY.resolve("table.md"), table);
    findings.forEach(each -> violations.addAll(each.violations()));
    samples.forEach(ofLock -> violations.addAll(ofLock.violations()));
    assertEquals(List.of(), violations, () -> "with the seed " + seed + ", " + DIRECTORY);
  }

  /** Rounds with names of their own, for the time of the test from the first of them on. */
  private static Stream<Round> rounds(TestedLock tested, Settings settings, Random random) {
    AtomicLong startNanos = new AtomicLong();
    return IntStream.iterate(1, i -> i + 1)
        .peek(i -> startNanos.compareAndSet(0, System.nanoTime()))
        .takeWhile(
            i ->
                i <= Metric.MIN_SAMPLES + 1
                    || System.nanoTime() - startNanos.get() < TIME.toNanos())
        .mapToObj(
            i ->
                Round.of("soak " + i, false, FAULTS, tested, settings, random)
                    .with(ThinkTime.STEADY));
  }
}
