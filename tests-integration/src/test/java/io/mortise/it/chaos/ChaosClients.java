package io.mortise.it.chaos;

import io.mortise.testkit.JavaProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/** The client processes of one tested lock, by index; another process replaces a killed one. */
final class ChaosClients implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(90);
  private static final int MAX_OUTPUT_LINES = 20;

  private final List<String> arguments;
  private final Random seeds;
  private final List<JavaProcess> processes = new ArrayList<>();
  private String lastCommand = "rest";

  /**
   * Starts the processes; their threads rest.
   *
   * @param guarded URI of the server with the guarded resources
   * @param directory for the records of their holds
   */
  ChaosClients(
      TestedLock tested,
      ChaosServers servers,
      String guarded,
      Path directory,
      Settings settings,
      long seed)
      throws InterruptedException {
    seeds = new Random(seed);
    arguments =
        List.of(
            tested.family().name(),
            String.join(" ", servers.uris()),
            guarded,
            directory.toString(),
            Long.toString(settings.lease().toMillis()),
            Integer.toString(settings.threads()),
            Integer.toString(settings.maxHandOffs()));
    for (int i = 0; i < settings.clients(); i++) {
      processes.add(start());
    }
    for (JavaProcess process : processes) {
      process.awaitLine("ready", LIMIT);
    }
  }

  private JavaProcess start() {
    return JavaProcess.builder(ChaosClient.class)
        .jvmOptions("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx96m", "-Xshare:auto")
        .arguments(arguments.toArray(String[]::new))
        .arguments(Long.toString(seeds.nextLong()))
        .start();
  }

  /** Lets all threads contend for the lock of the round. */
  void contend(Round round) {
    send("task " + round.name() + " " + round.thinkTime());
  }

  /** Lets all threads rest; returns when they have left their sections. */
  void rest() throws InterruptedException {
    send("rest");
    for (JavaProcess process : processes) {
      process.awaitLine("resting", LIMIT);
    }
  }

  private void send(String command) {
    lastCommand = command;
    processes.forEach(process -> process.send(command));
  }

  /** Returns the process at that index. */
  JavaProcess process(int index) {
    return processes.get(index);
  }

  /** Starts another process at that index, which joins in when it is ready. */
  void replace(int index) {
    JavaProcess replacement = start();
    processes.set(index, replacement);
    replacement.send(lastCommand);
  }

  /** Ends all processes in order; returns what is left in their JVMs. */
  List<String> stop() throws InterruptedException {
    List<String> left = new ArrayList<>();
    send("stop");
    for (JavaProcess process : processes) {
      process.awaitLine("done", LIMIT);
      int code = process.awaitExit(LIMIT);
      Stream.concat(
              process.output().lines().filter(line -> line.startsWith("left ")),
              Stream.of(code).filter(it -> it != 0).map(it -> "exit code " + it))
          .map(line -> process + ": " + line)
          .forEach(left::add);
    }
    return left;
  }

  /** Returns the last output of all processes, for a failure message. */
  String output() {
    StringBuilder all = new StringBuilder();
    for (JavaProcess process : processes) {
      List<String> lines = process.output().lines().toList();
      all.append("\n").append(process);
      lines.stream()
          .skip(Math.max(0, lines.size() - MAX_OUTPUT_LINES))
          .forEach(line -> all.append("\n  ").append(line));
    }
    return all.toString();
  }

  @Override
  public void close() {
    processes.forEach(JavaProcess::close);
  }
}
