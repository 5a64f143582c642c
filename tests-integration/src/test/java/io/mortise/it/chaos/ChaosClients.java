package io.mortise.it.chaos;

import io.mortise.it.support.ChildJvm;
import io.mortise.testkit.JavaProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The client processes of one tested lock, by index; another process replaces a killed one. */
final class ChaosClients implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(90);
  private static final int MAX_OUTPUT_LINES = 20;

  private final List<String> arguments;
  private final boolean mayUseCallersJedis;
  private final Random seeds;
  private final List<JavaProcess> processes = new ArrayList<>();
  private final List<PreloadedLibrary.Control> lookUpsAreSilent = new ArrayList<>();
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
      throws IOException, InterruptedException {
    mayUseCallersJedis = tested.topology() == ServerTopology.STANDALONE;
    seeds = new Random(seed);
    arguments =
        List.of(
            tested.family().name(),
            tested.options().name(),
            String.join(" ", servers.uris()),
            guarded,
            directory.toString(),
            Long.toString(settings.lease().toMillis()),
            Integer.toString(settings.threads()),
            Integer.toString(settings.maxHandOffs()));
    for (int i = 0; i < settings.clients(); i++) {
      lookUpsAreSilent.add(PreloadedLibrary.Control.in(directory));
      processes.add(start(i));
    }
    for (JavaProcess process : processes) {
      process.awaitLine("ready", LIMIT);
    }
  }

  private JavaProcess start(int index) {
    JavaProcess.Builder builder = ChildJvm.builder(ChaosClient.class);
    if (PreloadedLibrary.LOOK_UP.isAvailable()) {
      PreloadedLibrary.LOOK_UP.preload(lookUpsAreSilent.get(index), builder::environment);
    }
    return builder
        .jvmOptions("-Xmx96m", "-Xshare:auto")
        .jvmOptions("-Djava.net.preferIPv4Stack=true", "-Dsun.net.inetaddr.ttl=0")
        .arguments(arguments.toArray(String[]::new))
        .arguments(Boolean.toString(mayUseCallersJedis && seeds.nextInt(3) == 0))
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

  /**
   * Lets all threads ask for the lock of that name at the same time, while they rest otherwise.
   *
   * @param bound how long each may wait
   * @param stuck gets the output of a process of which not all threads got in
   * @return how long the last one waited, in ms
   */
  long callRoll(String name, Duration bound, List<String> stuck) throws InterruptedException {
    processes.forEach(process -> process.send("roll " + name + " " + bound.toMillis()));
    long longest = 0;
    for (JavaProcess process : processes) {
      String millis = process.awaitLine("entered ", LIMIT).substring("entered ".length());
      if (millis.equals("too late")) {
        stuck.add(lastLines(process));
      } else {
        longest = Math.max(longest, Long.parseLong(millis));
      }
    }
    return longest;
  }

  /** Returns the sum over all processes of what each has in use, while its threads rest. */
  Map<Metric, Long> sample() throws InterruptedException {
    processes.forEach(process -> process.send("sample"));
    Map<Metric, Long> sums = new EnumMap<>(Metric.class);
    for (JavaProcess process : processes) {
      String[] values = process.awaitLine("sample ", LIMIT).split(" ", -1);
      for (String value : List.of(values).subList(1, values.length)) {
        String[] pair = value.split("=", 2);
        sums.merge(Metric.valueOf(pair[0]), Long.parseLong(pair[1]), Long::sum);
      }
    }
    return sums;
  }

  private void send(String command) {
    lastCommand = command;
    processes.forEach(process -> process.send(command));
  }

  /** Returns the process at that index. */
  JavaProcess process(int index) {
    return processes.get(index);
  }

  /** Leaves the look-ups of host names of a process without an answer, or answers them again. */
  void silenceLookUps(int index, boolean silent) {
    try {
      lookUpsAreSilent.get(index).set(silent ? 1 : 0);
    } catch (IOException e) {
      throw new UncheckedIOException("look-ups cannot be controlled", e);
    }
  }

  /** Starts another process at that index, which joins in when it is ready. */
  void replace(int index) {
    JavaProcess replacement = start(index);
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
    return processes.stream().map(ChaosClients::lastLines).collect(Collectors.joining());
  }

  private static String lastLines(JavaProcess process) {
    List<String> lines = process.output().lines().toList();
    return lines.stream()
        .skip(Math.max(0, lines.size() - MAX_OUTPUT_LINES))
        .collect(Collectors.joining("\n  ", "\n" + process + "\n  ", ""));
  }

  @Override
  public void close() {
    processes.forEach(JavaProcess::close);
  }
}
