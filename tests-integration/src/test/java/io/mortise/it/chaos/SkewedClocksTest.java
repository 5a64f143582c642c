package io.mortise.it.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mortise.it.peers.RedissonVersion;
import io.mortise.it.support.ChildJvm;
import io.mortise.testkit.HoldChecker;
import io.mortise.testkit.JavaProcess;
import io.mortise.testkit.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Processes of ours and of three versions of Redisson share a plain and a read-write lock, while
 * the wall clock of each and of the server steps in both directions: no two hold a lock at a time,
 * none loses its hold, and all get in when the clocks agree again. For {@code
 * -Dmortise.clocks=PT10M} or the time of a build, with {@code -Dmortise.clocks.seed=7}.
 *
 * <p>The server's clock stays within a second and a half: a key ends early by as much as it steps
 * forward, and a hold must be renewed before that. A fair lock has no part: Redisson judges and
 * waits in its queue by the clock of its own process ({@code docs/wire.md}).
 */
@Tag("alone")
class SkewedClocksTest {
  private static final Duration TIME = Duration.parse(System.getProperty("mortise.clocks", "PT4S"));
  private static final int MAX_PROCESS_SHIFT_MILLIS = 20_000;
  private static final int MAX_SERVER_SHIFT_MILLIS = 1_500;
  private static final int MAX_GAP_MILLIS = 200;

  /** For a start on a busy machine, and for all threads to get in one after the other. */
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final long seed =
      Long.getLong("mortise.clocks.seed", System.nanoTime() & Integer.MAX_VALUE);
  private final Random random = new Random(seed);
  private final List<WallClock> clocks = new ArrayList<>();
  private final List<JavaProcess> processes = new ArrayList<>();
  @TempDir Path directory;
  private WallClock serverClock;
  private RedisServer server;

  @BeforeEach
  void start() throws InterruptedException {
    assumeTrue(PreloadedLibrary.CLOCK.isAvailable(), "no C compiler");
    serverClock = new WallClock(directory);
    server = serverClock.on(RedisServer.builder()).start();
    Stream.concat(
            Stream.of(SkewedPeer.MORTISE, SkewedPeer.MORTISE),
            Arrays.stream(RedissonVersion.values()).map(Enum::name))
        .forEach(this::startProcess);
    awaitAll("ready");
  }

  private void startProcess(String side) {
    WallClock clock = new WallClock(directory);
    clocks.add(clock);
    processes.add(
        clock
            .on(ChildJvm.builder(SkewedPeer.class))
            .jvmOptions("-Xmx96m")
            .arguments(side, server.uri(), directory.resolve("holds").toString())
            .arguments(Long.toString(LIMIT.toMillis()), Long.toString(random.nextLong()))
            .start());
  }

  @AfterEach
  void end() {
    processes.forEach(JavaProcess::close);
    if (server != null) {
      server.close();
    }
  }

  @Test
  void locksAreExclusiveAndLiveWhateverTheClocksSay() throws InterruptedException {
    System.out.println("to repeat: -Dmortise.clocks.seed=" + seed);
    long endNanos = System.nanoTime() + TIME.toNanos();
    while (System.nanoTime() < endNanos) {
      int chosen = random.nextInt(clocks.size() + 1);
      if (chosen == clocks.size()) {
        serverClock.set(shift(MAX_SERVER_SHIFT_MILLIS));
      } else {
        clocks.get(chosen).set(shift(MAX_PROCESS_SHIFT_MILLIS));
      }
      PlannedTime.pass(Duration.ofMillis(random.nextInt(MAX_GAP_MILLIS)));
    }
    serverClock.set(Duration.ZERO);
    clocks.forEach(clock -> clock.set(Duration.ZERO));

    processes.forEach(process -> process.send("rest"));
    List<String> cycles = awaitAll("rests ");
    cycles.forEach(line -> assertNotEquals("rests 0", line));
    processes.forEach(process -> process.send("ask"));
    List<String> entered = awaitAll("entered ");
    entered.forEach(line -> assertNotEquals("entered too late", line));
    awaitAll("done");
    HoldChecker.Report report = HoldChecker.check(directory.resolve("holds"));
    System.out.println(report.holds() + " holds; " + cycles + "; " + entered);
    assertEquals(List.of(), report.overlaps(), () -> "with the seed " + seed);
  }

  private Duration shift(int maxMillis) {
    return Duration.ofMillis(random.nextInt(2 * maxMillis) - maxMillis);
  }

  private List<String> awaitAll(String prefix) throws InterruptedException {
    List<String> lines = new ArrayList<>();
    for (JavaProcess process : processes) {
      lines.add(process.awaitLine(prefix, LIMIT));
    }
    return lines;
  }
}
