package io.mortise.cli.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.cli.Main;
import io.mortise.core.LockClient;
import io.mortise.testkit.JavaProcess;
import io.mortise.testkit.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.RedisClient;

/** Runs {@code mortise run} as a process, on a server of the class. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class RunFixture {
  static final Duration LIMIT = Duration.ofSeconds(60);

  final RedisServer server = RedisServer.start();
  final RedisClient redis = RedisClient.create(server.uri());
  final LockClient client = LockClient.create(server.uri());

  private final List<JavaProcess> started = new ArrayList<>();

  @AfterEach
  void end() {
    started.forEach(JavaProcess::close);
    started.clear();
  }

  @AfterAll
  void stop() {
    client.close();
    redis.close();
    server.close();
  }

  /** Starts {@code mortise run} with these arguments. */
  JavaProcess run(String... arguments) {
    return runOn(server.uri(), arguments);
  }

  /** The same on other servers. */
  JavaProcess runOn(String uris, String... arguments) {
    List<String> line = new ArrayList<>(List.of("run"));
    line.addAll(List.of(arguments));
    JavaProcess process =
        JavaProcess.builder(Main.class)
            .jvmOptions("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
            .environment("MORTISE_REDIS", uris)
            .arguments(line.toArray(String[]::new))
            .start();
    started.add(process);
    return process;
  }

  /** Returns the words that start {@code mortise run}, for a process with streams of its own. */
  static List<String> commandLine(String... arguments) {
    List<String> line = new ArrayList<>();
    line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    line.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    line.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName(), "run"));
    line.addAll(List.of(arguments));
    return line;
  }

  /** Checks how a run ends, and that its output has these parts. */
  static void assertEnds(int status, JavaProcess run, String... parts) {
    assertEquals(status, run.awaitExit(LIMIT), run::output);
    for (String part : parts) {
      assertTrue(run.output().contains(part), () -> part + " is not in: " + run.output());
    }
  }

  /** Returns whether a waiter listens for the release of the lock. */
  boolean isWaitedFor(String name) {
    return !((List<?>) server.command("PUBSUB", "CHANNELS", "*{" + name + "}*")).isEmpty();
  }

  /** Sends a signal to a process. */
  static void signal(String signal, long pid) throws Exception {
    Process kill = new ProcessBuilder("kill", "-s", signal, Long.toString(pid)).start();
    assertEquals(0, kill.waitFor(), () -> "kill -s " + signal + " " + pid);
  }

  /** Returns whether a process of that id exists. */
  static boolean isAlive(long pid) {
    return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
  }

  /** Waits for a line such as {@code pid 123}, and returns the number. */
  static long awaitPid(JavaProcess run) throws Exception {
    return Long.parseLong(run.awaitLine("pid ", LIMIT).substring("pid ".length()).strip());
  }
}
