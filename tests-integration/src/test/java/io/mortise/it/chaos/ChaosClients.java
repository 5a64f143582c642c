package io.mortise.it.chaos;

import io.mortise.testkit.JavaProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/**
 * The client processes of one subject; each has a place, which another one takes if it is killed.
 */
final class ChaosClients implements AutoCloseable {
  static final Duration PATIENCE = Duration.ofSeconds(90);

  private final List<String> arguments;
  private final Random seeds;
  private final List<JavaProcess> children = new ArrayList<>();
  private String task = "rest";

  /**
   * Starts them; they rest.
   *
   * @param guarded URI of the server of what is guarded
   * @param directory for what they say of their holds
   */
  ChaosClients(
      TestedLock subject,
      ChaosServers arena,
      String guarded,
      Path directory,
      Settings settings,
      long seed)
      throws InterruptedException {
    seeds = new Random(seed);
    arguments =
        List.of(
            subject.family().name(),
            String.join(" ", arena.uris()),
            guarded,
            directory.toString(),
            Long.toString(settings.lease().toMillis()),
            Integer.toString(settings.threads()),
            Integer.toString(settings.handOvers()));
    for (int i = 0; i < settings.clients(); i++) {
      children.add(start());
    }
    for (JavaProcess child : children) {
      child.awaitLine("ready", PATIENCE);
    }
  }

  private JavaProcess start() {
    return JavaProcess.builder(ChaosClient.class)
        .jvmOptions("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx96m", "-Xshare:auto")
        .arguments(arguments.toArray(String[]::new))
        .arguments(Long.toString(seeds.nextLong()))
        .start();
  }

  /** All contend for the lock of that name. */
  void contend(Round round) {
    tell("task " + round.name() + " " + round.pace());
  }

  /** Nobody does; returns when all are out of their sections. */
  void rest() throws InterruptedException {
    tell("rest");
    for (JavaProcess child : children) {
      child.awaitLine("resting", PATIENCE);
    }
  }

  private void tell(String line) {
    task = line;
    children.forEach(child -> child.send(line));
  }

  void pause(int place) {
    children.get(place).pause();
  }

  void resume(int place) {
    children.get(place).resume();
  }

  void kill(int place) {
    children.get(place).kill();
  }

  /** Starts another one, which joins in when it is ready. */
  void replace(int place) {
    JavaProcess fresh = start();
    children.set(place, fresh);
    fresh.send(task);
  }

  /** Ends all in order; what they say is still there in their JVMs. */
  List<String> stop() throws InterruptedException {
    List<String> left = new ArrayList<>();
    tell("stop");
    for (JavaProcess child : children) {
      child.awaitLine("done", PATIENCE);
      int code = child.awaitExit(PATIENCE);
      Stream.concat(
              child.output().lines().filter(line -> line.startsWith("left ")),
              Stream.of(code).filter(it -> it != 0).map(it -> "exit code " + it))
          .map(line -> child + ": " + line)
          .forEach(left::add);
    }
    return left;
  }

  /** The output of all that live, for the message when something did not happen. */
  String output() {
    StringBuilder all = new StringBuilder();
    for (JavaProcess child : children) {
      List<String> lines = child.output().lines().toList();
      all.append("\n").append(child);
      lines.stream()
          .skip(Math.max(0, lines.size() - 20))
          .forEach(line -> all.append("\n  ").append(line));
    }
    return all.toString();
  }

  @Override
  public void close() {
    children.forEach(JavaProcess::close);
  }
}
