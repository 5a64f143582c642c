package io.mortise.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A real {@code redis-server} process on a free port of 127.0.0.1, in a temporary directory of its
 * own, without persistence. It can be killed, suspended and started again, and is gone when this
 * object is closed or this JVM ends.
 *
 * <pre>{@code
 * try (RedisServer server = RedisServer.start();
 *     LockClient client = LockClient.create(server.uri())) {
 *   ...
 * }
 * RedisServer.builder().config("requirepass", "secret").start();
 * RedisServer.builder().config("replicaof", "127.0.0.1", "" + master.port()).start();
 * }</pre>
 *
 * <p><b>Which binary.</b> The first of: {@link Builder#binary}; the system property {@code
 * mortise.redis-server}; the environment variable {@code MORTISE_REDIS_SERVER}; {@code
 * redis-server} on the {@code PATH}; the one inside embedded-redis (Redis 6.2, Linux and macOS,
 * x86-64 and arm64). The word {@code embedded} as property or variable asks for that last one.
 *
 * <p>Signals need a POSIX system. Starting and stopping are for one thread at a time; everything
 * else may be called by any thread.
 */
public final class RedisServer implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(RedisServer.class);
  private static final String HOST = "127.0.0.1";
  private static final int PORT_ATTEMPTS = 10;
  private static final Duration START_TIMEOUT = Duration.ofSeconds(30);
  private static final Duration START_POLL = Duration.ofMillis(10);
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);

  private final Path binary;
  private final List<String> arguments;
  private final List<String> directives;
  private final @Nullable String password;
  private final Path directory;
  private final int port;
  private volatile OsProcess process;
  private volatile boolean closed;

  private RedisServer(Builder builder) {
    binary = RedisBinary.find(builder.binary);
    arguments = builder.sentinel ? List.of("--sentinel") : List.of();
    directives = List.copyOf(builder.directives);
    password = builder.password;
    try {
      directory = Files.createTempDirectory("mortise-redis-");
    } catch (IOException e) {
      throw new UncheckedIOException("no temporary directory for redis-server", e);
    }
    try {
      int chosen = builder.port;
      OsProcess started = null;
      for (int attempt = 1; started == null; attempt++) {
        chosen = builder.port != 0 ? builder.port : Ports.free();
        // Another process may take the port between our look and the server's bind.
        started = launch(chosen, builder.port == 0 && attempt < PORT_ATTEMPTS);
      }
      port = chosen;
      process = started;
    } catch (RuntimeException | Error e) {
      deleteDirectory();
      throw e;
    }
    log.debug("redis-server {} runs on port {} as process {}", binary, port, process.pid());
  }

  /** Starts a server with the defaults; it is ready for commands when this returns. */
  public static RedisServer start() {
    return builder().start();
  }

  /** A builder that starts from the defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /** {@code redis://127.0.0.1:port}, with the password when there is one. */
  public String uri() {
    return uri(port);
  }

  /** The same for another port of this machine, such as that of a proxy in front. */
  String uri(int otherPort) {
    try {
      String user = password == null ? null : ":" + password;
      return new URI("redis", user, HOST, otherPort, null, null, null).toString();
    } catch (URISyntaxException e) {
      throw new IllegalStateException("the password does not fit into a URI", e);
    }
  }

  /** 127.0.0.1. */
  public String host() {
    return HOST;
  }

  /** The port; it stays the same over restarts. */
  public int port() {
    return port;
  }

  /** The process id; another one after each restart. */
  public long pid() {
    return process.pid();
  }

  /** Whether the process exists; also true while it is suspended. */
  public boolean isRunning() {
    return process.isRunning();
  }

  /** The version of the running server, for example {@code 6.2.6}. */
  public String version() {
    return Objects.requireNonNull(connection().info("server").get("redis_version"));
  }

  /** The whole log of the server, over all restarts. */
  public String log() {
    try {
      return Files.readString(logFile());
    } catch (IOException e) {
      throw new UncheckedIOException("the log of redis-server cannot be read", e);
    }
  }

  /** Ends the process as a crash does ({@code kill -9}). Returns when it is gone. */
  public void kill() {
    requireOpen();
    process.kill();
  }

  /** Ends the process in order (SIGTERM), as an administrator does. Returns when it is gone. */
  public void stop() {
    requireOpen();
    process.terminate(STOP_TIMEOUT);
  }

  /**
   * Ends the process if it still runs ({@link #stop()}), and starts a new one on the same port. It
   * knows what it had been told to persist: by default nothing.
   *
   * @throws IllegalStateException if it does not start, for example because another process has
   *     taken the port; the message has its log
   */
  public void restart() {
    stop();
    process = Objects.requireNonNull(launch(port, false));
  }

  /**
   * Suspends the process (SIGSTOP): the kernel still accepts its connections, but nothing is
   * answered.
   */
  public void pause() {
    requireOpen();
    process.pause();
  }

  /** Lets a suspended process go on (SIGCONT). */
  public void resume() {
    requireOpen();
    process.resume();
  }

  /**
   * Runs one command over a connection of its own.
   *
   * @return a {@code String}, a {@code Long}, a {@code List} of such, or null
   * @throws redis.clients.jedis.exceptions.JedisException if the server answers with an error, or
   *     cannot be reached, or does not answer within 10 s
   */
  public @Nullable Object command(String... words) {
    requireOpen();
    if (words.length == 0) {
      throw new IllegalArgumentException("a command has at least one word");
    }
    return connection().command(words);
  }

  /**
   * How often each command has been called since the start or {@link #resetStats()}, by its name in
   * lower case; a subcommand of Redis 7 is named {@code client|setinfo}. Commands inside scripts
   * count too. AUTH, CONFIG and INFO are left out, because this class itself sends them.
   */
  public Map<String, Long> commandStats() {
    return connection().commandStats();
  }

  /** Sets all counts of {@link #commandStats()} to zero. */
  public void resetStats() {
    command("CONFIG", "RESETSTAT");
  }

  /** Ends the process, also a suspended one, and deletes its directory. */
  @Override
  public void close() {
    if (!closed) {
      closed = true;
      process.kill();
      deleteDirectory();
    }
  }

  @Override
  public String toString() {
    return "redis-server on port " + port + (isRunning() ? "" : " (not running)");
  }

  private ServerConnection connection() {
    return new ServerConnection(HOST, port, password);
  }

  /** A ready server; null if the port was taken and that is tolerated. */
  private @Nullable OsProcess launch(int onPort, boolean tolerateTakenPort) {
    OsProcess started;
    try {
      Path config = directory.resolve("redis.conf");
      Files.write(config, config(onPort));
      List<String> line = new ArrayList<>(List.of(binary.toString(), config.toString()));
      line.addAll(arguments);
      // Not by 'logfile': complaints about the configuration come before that is opened.
      started =
          OsProcess.start(
              new ProcessBuilder(line)
                  .directory(directory.toFile())
                  .redirectErrorStream(true)
                  .redirectOutput(ProcessBuilder.Redirect.appendTo(logFile().toFile())));
    } catch (IOException e) {
      throw new UncheckedIOException("'%s' cannot be run".formatted(binary), e);
    }
    ServerConnection connection = new ServerConnection(HOST, onPort, password);
    Awaitility.await("redis-server on port " + onPort)
        .pollInSameThread()
        .pollDelay(Duration.ZERO)
        .pollInterval(START_POLL)
        .atMost(START_TIMEOUT)
        .until(() -> !started.isRunning() || connection.isReady(started.pid()));
    if (started.isRunning()) {
      return started;
    }
    String said = log();
    if (tolerateTakenPort && said.contains("Address already in use")) {
      return null;
    }
    throw new IllegalStateException(
        "'%s' ended before it was ready; its log:%n%s".formatted(binary, said));
  }

  private List<String> config(int onPort) {
    List<String> lines = new ArrayList<>();
    lines.add("bind " + HOST);
    lines.add("port " + onPort);
    lines.add("dir " + Builder.quoted(directory.toString()));
    lines.add("daemonize no");
    lines.add("save \"\"");
    lines.add("appendonly no");
    lines.addAll(directives);
    return lines;
  }

  Path directory() {
    return directory;
  }

  private Path logFile() {
    return directory.resolve("redis.log");
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("redis-server on port " + port + " has been closed");
    }
  }

  private void deleteDirectory() {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException | UncheckedIOException e) {
      log.warn("'{}' could not be deleted", directory, e);
    }
  }

  /** Collects what the server is to be started with. */
  public static final class Builder {
    private static final List<String> OURS = List.of("port", "bind", "dir", "daemonize", "logfile");

    private final List<String> directives = new ArrayList<>();
    private @Nullable Path binary;
    private @Nullable String password;
    private int port;
    private boolean sentinel;

    private Builder() {}

    /** The {@code redis-server} to run, instead of the one that would be found. */
    public Builder binary(Path binary) {
      this.binary = Objects.requireNonNull(binary, "binary");
      return this;
    }

    /** The port, instead of a free one. */
    public Builder port(int port) {
      if (port < 1 || port > 65_535) {
        throw new IllegalArgumentException("port must be from 1 to 65535, not " + port);
      }
      this.port = port;
      return this;
    }

    /**
     * Adds a line to {@code redis.conf}: {@code config("maxmemory", "2mb")}, {@code config("save",
     * "60", "1")}. Each value is one word for Redis, whatever characters it has.
     *
     * @throws IllegalArgumentException for what this class itself sets: port, bind, dir, daemonize,
     *     logfile
     */
    public Builder config(String directive, String... values) {
      if (OURS.contains(directive)) {
        throw new IllegalArgumentException("'%s' is set by RedisServer".formatted(directive));
      }
      if (!directive.matches("[A-Za-z0-9-]+")) {
        throw new IllegalArgumentException("'%s' is not a directive".formatted(directive));
      }
      if (directive.equals("requirepass") && values.length == 1) {
        password = values[0].isEmpty() ? null : values[0];
      }
      directives.add(
          Arrays.stream(values)
              .map(Builder::quoted)
              .collect(Collectors.joining(" ", directive + " ", "")));
      return this;
    }

    /**
     * Starts it as a sentinel; what it watches is {@code config("sentinel", "monitor", name, host,
     * port, quorum)}.
     */
    public Builder sentinel() {
      sentinel = true;
      return this;
    }

    /**
     * Starts the server and waits until it answers.
     *
     * @throws IllegalArgumentException if the binary that was named is not one
     * @throws IllegalStateException if there is no binary for this machine, or the server ended
     *     before it was ready; the message has its log
     */
    public RedisServer start() {
      return new RedisServer(this);
    }

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
}
