package io.mortise.it.compositeprocesses;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.it.support.HoldLogs;
import io.mortise.testkit.HoldChecker;
import io.mortise.testkit.HoldLog;
import io.mortise.testkit.JavaProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Processes that contend for the same names on the same nodes. */
final class ProcessTeam implements AutoCloseable {
  static final Duration PATIENCE = Duration.ofSeconds(40);

  private final Nodes nodes;
  private final Path log;
  private final Duration lease;
  private final int threads;
  private final List<JavaProcess> children = new ArrayList<>();

  /**
   * Nobody yet.
   *
   * @param log the directory for the holds
   * @param lease the default lease of all clients
   * @param threads how many each process has
   */
  ProcessTeam(Nodes nodes, Path log, Duration lease, int threads) {
    this.nodes = nodes;
    this.log = log;
    this.lease = lease;
    this.threads = threads;
  }

  /**
   * What a process has done.
   *
   * @param written sections in which all was written
   * @param refused sections in which a larger token had been there before
   * @param lost holds whose lease was lost
   * @param failed entries that ended with an error, and releases that could not be confirmed
   */
  record Counts(int written, int refused, int lost, int failed) {
    static Counts parse(String line) {
      String[] words = line.split(" ", -1);
      return new Counts(
          Integer.parseInt(words[1]),
          Integer.parseInt(words[2]),
          Integer.parseInt(words[3]),
          Integer.parseInt(words[4]));
    }
  }

  /** Starts a process; it works when all are told to {@link #begin}. */
  JavaProcess add(SectionLocks guard, String... names) {
    JavaProcess child =
        JavaProcess.builder(LoadProcess.class)
            .jvmOptions("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m")
            .arguments(
                guard.name(),
                String.join(",", nodes.uris()),
                String.join(",", names),
                nodes.safe.uri(),
                log.toString(),
                Long.toString(lease.toMillis()),
                Integer.toString(threads))
            .start();
    children.add(child);
    return child;
  }

  void begin() throws InterruptedException {
    for (JavaProcess child : children) {
      child.awaitLine("ready", PATIENCE);
    }
    children.forEach(child -> child.send("start"));
  }

  /** Waits until there have been so many more sections, by whomever. */
  void awaitProgress(String name, int sections) {
    long before = FencedCounters.writes(nodes.safe, name);
    await("progress on " + name)
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(20))
        .until(() -> FencedCounters.writes(nodes.safe, name) >= before + sections);
  }

  /** Has somebody of that process keep the section; the token under which he does. */
  static long keep(JavaProcess child) throws InterruptedException {
    child.send("keep");
    return Long.parseLong(child.awaitLine("keeping ", PATIENCE).split(" ", -1)[1]);
  }

  /** Ends those that live; what each has done. */
  List<Counts> end() throws InterruptedException {
    List<JavaProcess> living = children.stream().filter(JavaProcess::isRunning).toList();
    living.forEach(child -> child.send("stop"));
    List<Counts> counts = new ArrayList<>();
    for (JavaProcess child : living) {
      counts.add(Counts.parse(child.awaitLine("done ", PATIENCE)));
      assertEquals(0, child.awaitExit(PATIENCE), child::output);
    }
    return counts;
  }

  /** Judges all holds. */
  HoldChecker.Report judge() {
    return HoldChecker.check(HoldLogs.holds(log));
  }

  /** Waits until each process that lives has had so many holds. */
  void awaitShares(int least) {
    for (JavaProcess child : children) {
      await("holds of " + child)
          .atMost(PATIENCE)
          .until(() -> !child.isRunning() || holdsOf(child) >= least);
    }
  }

  private long holdsOf(JavaProcess child) {
    return HoldLog.read(log).stream().filter(hold -> hold.processId() == child.pid()).count();
  }

  /** What the processes complained of, for the log of the test. */
  String complaints() {
    return children.stream()
        .flatMap(child -> child.output().lines())
        .filter(line -> line.startsWith("failed") || line.startsWith("lost"))
        .limit(20)
        .collect(Collectors.joining("\n  ", "\n  ", ""));
  }

  @Override
  public void close() {
    children.forEach(JavaProcess::close);
  }
}
