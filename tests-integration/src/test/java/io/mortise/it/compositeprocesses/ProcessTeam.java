package io.mortise.it.compositeprocesses;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.support.ChildJvm;
import io.mortise.it.support.HoldLogs;
import io.mortise.testkit.HoldChecker;
import io.mortise.testkit.HoldLog;
import io.mortise.testkit.JavaProcess;
import io.mortise.testkit.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Processes that contend for the same names on the same nodes. */
final class ProcessTeam implements AutoCloseable {
  static final Duration LIMIT = Duration.ofSeconds(40);

  private final RedisServer counters = RedisServer.start();
  private final Set<String> names = new TreeSet<>();
  private final List<String> uris;
  private final Path log;
  private final Duration lease;
  private final int threads;
  private final List<JavaProcess> children = new ArrayList<>();

  /**
   * A team without processes.
   *
   * @param uris the servers of the locks
   * @param log the directory for the holds
   * @param lease the default lease of all clients
   * @param threads the number for each process
   */
  ProcessTeam(List<String> uris, Path log, Duration lease, int threads) {
    this.uris = uris;
    this.log = log;
    this.lease = lease;
    this.threads = threads;
  }

  /**
   * The counts of a process.
   *
   * @param written sections in which all was written
   * @param refused sections in which a larger token had been there before
   * @param refusedThoughHeld those of them whose lease was not lost
   * @param lost holds whose lease was lost
   * @param failed entries that ended with an error, and releases that could not be confirmed
   */
  record Counts(int written, int refused, int refusedThoughHeld, int lost, int failed) {
    static Counts parse(String line) {
      String[] words = line.split(" ", -1);
      return new Counts(
          Integer.parseInt(words[1]),
          Integer.parseInt(words[2]),
          Integer.parseInt(words[3]),
          Integer.parseInt(words[4]),
          Integer.parseInt(words[5]));
    }
  }

  /** Starts a process; it works after {@link #begin}. */
  JavaProcess add(SectionLocks locks, String... names) {
    this.names.addAll(List.of(names));
    JavaProcess child =
        start(
            LoadProcess.class,
            locks.name(),
            String.join(",", uris),
            String.join(",", names),
            counters.uri(),
            log.toString(),
            Long.toString(lease.toMillis()),
            Integer.toString(threads));
    children.add(child);
    return child;
  }

  /** Starts a small JVM. */
  static JavaProcess start(Class<?> main, String... arguments) {
    return ChildJvm.builder(main).jvmOptions("-Xmx128m").arguments(arguments).start();
  }

  void begin() throws InterruptedException {
    for (JavaProcess child : children) {
      child.awaitLine("ready", LIMIT);
    }
    children.forEach(child -> child.send("start"));
  }

  /** Waits until that many more sections are done, by any process. */
  void awaitProgress(String name, int sections) {
    long before = FencedCounters.writes(counters, name);
    await("progress on " + name)
        .atMost(LIMIT)
        .pollInterval(Duration.ofMillis(10))
        .until(() -> FencedCounters.writes(counters, name) >= before + sections);
  }

  /** Causes a fault; returns how long it takes until the next section is done, in ms. */
  long millisToNextSection(String name, Runnable fault) {
    long start = System.nanoTime();
    fault.run();
    awaitProgress(name, 1);
    return (System.nanoTime() - start) / 1_000_000;
  }

  /** Makes a thread of that process stay in the section; returns its token. */
  static long keep(JavaProcess child) throws InterruptedException {
    child.send("keep");
    return Long.parseLong(child.awaitLine("keeping ", LIMIT).split(" ", -1)[1]);
  }

  /**
   * The result of all processes.
   *
   * @param report on all holds
   * @param counts of those processes that were not killed
   * @param longestPauseMillis of any process
   */
  record Result(HoldChecker.Report report, List<Counts> counts, long longestPauseMillis) {
    int refused() {
      return counts.stream().mapToInt(Counts::refused).sum();
    }

    int refusedThoughHeld() {
      return counts.stream().mapToInt(Counts::refusedThoughHeld).sum();
    }

    int lost() {
      return counts.stream().mapToInt(Counts::lost).sum();
    }

    /** Fails if a write of a holder was refused, or a lease lost that no pause explains. */
    void assertHoldersWrote(Duration lease) {
      assertEquals(0, refusedThoughHeld(), this::toString);
      assertTrue(
          lost() == 0 || longestPauseMillis >= lease.toMillis() / 3,
          () -> "a lease was lost without a pause: " + this);
    }
  }

  /** Ends the processes that live, prints the result, and fails if an update was lost. */
  Result end(String title) throws InterruptedException {
    List<JavaProcess> living = children.stream().filter(JavaProcess::isRunning).toList();
    living.forEach(child -> child.send("stop"));
    List<Counts> counts = new ArrayList<>();
    for (JavaProcess child : living) {
      counts.add(Counts.parse(child.awaitLine("done ", LIMIT)));
      assertEquals(0, child.awaitExit(LIMIT), child::output);
    }
    Result result =
        new Result(HoldChecker.check(HoldLogs.holds(log)), counts, longestPauseMillis());
    System.out.printf("%s: %s; %s%s%n", title, result.report(), counts, errorsAndLosses());
    names.forEach(name -> FencedCounters.assertNothingLost(counters, name));
    return result;
  }

  /** Waits until each process that lives has had that many holds. */
  void awaitHoldsOfEach(int least) {
    for (JavaProcess child : children) {
      await("holds of " + child)
          .atMost(LIMIT)
          .until(() -> !child.isRunning() || holdsOf(child) >= least);
    }
  }

  private long holdsOf(JavaProcess child) {
    return HoldLog.read(log).stream().filter(hold -> hold.processId() == child.pid()).count();
  }

  private long longestPauseMillis() {
    return children.stream()
        .flatMap(child -> child.output().lines())
        .filter(line -> line.startsWith("paused "))
        .mapToLong(line -> Long.parseLong(line.substring("paused ".length())))
        .max()
        .orElse(0);
  }

  /** The errors and losses that the processes have printed. */
  private String errorsAndLosses() {
    return children.stream()
        .flatMap(child -> child.output().lines())
        .filter(line -> line.startsWith("failed") || line.startsWith("lost"))
        .limit(20)
        .collect(Collectors.joining("\n  ", "\n  ", ""));
  }

  @Override
  public void close() {
    children.forEach(JavaProcess::close);
    counters.close();
  }
}
