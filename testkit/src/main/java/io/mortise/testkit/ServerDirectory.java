package io.mortise.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directory of one server, with its configuration and log; starts the server in it. It is below
 * that of the {@link ProcessGuard}, and so does not outlive this JVM.
 *
 * <p><b>Threads.</b> One thread at a time, as with {@link RedisServer}; any thread may read the
 * log.
 */
final class ServerDirectory {
  private static final Logger log = LoggerFactory.getLogger(ServerDirectory.class);
  private static final Duration START_TIMEOUT = Duration.ofSeconds(30);
  private static final Duration START_POLL = Duration.ofMillis(10);

  private static final String CONFIG = "redis.conf";

  private final Path binary;
  private final boolean sentinel;
  private final List<String> directives;
  private final Map<String, String> environment;
  private final Path directory;
  private boolean hasState;

  /**
   * Makes the directory.
   *
   * @param sentinel whether it is to be a sentinel, which keeps its state in its configuration file
   * @param directives lines of {@code redis.conf}, on top of what every server here has
   * @param environment variables of the process, on top of those of this JVM
   */
  ServerDirectory(
      Path binary, boolean sentinel, List<String> directives, Map<String, String> environment) {
    this.binary = binary;
    this.sentinel = sentinel;
    this.directives = List.copyOf(directives);
    this.environment = Map.copyOf(environment);
    try {
      directory = Files.createTempDirectory(ProcessGuard.directory(), "server-");
    } catch (IOException e) {
      throw new UncheckedIOException("no temporary directory for redis-server", e);
    }
  }

  Path directory() {
    return directory;
  }

  /** Returns the whole log, over all starts. */
  String log() {
    try {
      return Files.readString(logFile());
    } catch (IOException e) {
      throw new UncheckedIOException("the log of redis-server cannot be read", e);
    }
  }

  /**
   * Starts the server and waits until it answers.
   *
   * @param tolerateTakenPort whether to return nothing, instead of throwing, if another process has
   *     the port
   */
  Optional<OsProcess> launch(ServerConnection connection, boolean tolerateTakenPort) {
    return launch(connection, tolerateTakenPort, START_TIMEOUT);
  }

  /** The same, with the time within which it has to answer. */
  Optional<OsProcess> launch(
      ServerConnection connection, boolean tolerateTakenPort, Duration timeout) {
    OsProcess process = run(connection);
    awaitReadyOrEnded(process, connection, timeout);
    if (process.isRunning()) {
      hasState = sentinel;
      log.debug("{} runs on port {} as {}", binary, connection.port(), process.pid());
      return Optional.of(process);
    }
    String said = log();
    if (tolerateTakenPort && said.contains("Address already in use")) {
      return Optional.empty();
    }
    throw new IllegalStateException(
        "'%s' ended before it was ready; its log:%n%s".formatted(binary, said));
  }

  /** Kills a process that is neither in time: nobody else knows it. */
  private void awaitReadyOrEnded(OsProcess process, ServerConnection connection, Duration timeout) {
    try {
      Awaitility.await("redis-server on port " + connection.port())
          .pollInSameThread()
          .pollDelay(Duration.ZERO)
          .pollInterval(START_POLL)
          .atMost(timeout)
          .until(() -> !process.isRunning() || connection.isReady(process.pid()));
    } catch (RuntimeException e) {
      process.kill();
      throw new IllegalStateException(
          "'%s' was not ready within %d ms; its log:%n%s"
              .formatted(binary, timeout.toMillis(), log()),
          e);
    }
  }

  private OsProcess run(ServerConnection connection) {
    try {
      Path config = directory.resolve(CONFIG);
      if (!hasState) {
        Files.write(config, config(connection));
      }
      List<String> line = new ArrayList<>(List.of(binary.toString(), config.toString()));
      if (sentinel) {
        line.add("--sentinel");
      }
      // Not by 'logfile': complaints about the configuration come before that is opened.
      ProcessBuilder builder =
          new ProcessBuilder(line)
              .directory(directory.toFile())
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.appendTo(logFile().toFile()));
      builder.environment().putAll(environment);
      return OsProcess.start(builder);
    } catch (IOException e) {
      throw new UncheckedIOException("'%s' cannot be run".formatted(binary), e);
    }
  }

  private List<String> config(ServerConnection connection) {
    List<String> lines = new ArrayList<>();
    lines.add("bind " + connection.host());
    lines.add("port " + connection.port());
    lines.add("dir " + quoted(directory.toString()));
    lines.add("daemonize no");
    lines.add("save \"\"");
    lines.add("appendonly no");
    lines.add("repl-diskless-sync-delay 0"); // 5 s from Redis 7 on: replicas are wanted at once
    lines.addAll(directives);
    return lines;
  }

  private Path logFile() {
    return directory.resolve("redis.log");
  }

  /** Deletes what a server that is down has persisted: all but its configuration and its log. */
  void forgetData() {
    try {
      deleteAllBut(Set.of(directory, directory.resolve(CONFIG), logFile()));
    } catch (IOException e) {
      throw new UncheckedIOException("the data of redis-server cannot be deleted", e);
    }
  }

  void delete() {
    try {
      deleteAllBut(Set.of());
    } catch (IOException | UncheckedIOException e) {
      log.warn("'{}' could not be deleted", directory, e);
    }
  }

  private void deleteAllBut(Set<Path> kept) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        if (!kept.contains(file)) {
          Files.deleteIfExists(file);
        }
      }
    }
  }

  /** One word of {@code redis.conf}, whatever characters it has. */
  static String quoted(String value) {
    return value.matches("[A-Za-z0-9_.:/@%+*~&<>=,-]+")
        ? value
        : '"'
            + value
                .replace("\\", "\\\\")
                .replace("\"", "\\\"")
                .replace("\n", "\\n")
                .replace("\r", "\\r")
            + '"';
  }
}
