package io.mortise.testkit;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A real {@code redis-server} process on a free port of 127.0.0.1, in a temporary directory of its
 * own, without persistence. It can be killed, suspended and started again, and is gone when this
 * object is closed or this JVM ends, also by {@code kill -9}.
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
 * <p>It needs a POSIX shell at {@code /bin/sh}.
 *
 * <p><b>Threads.</b> One thread at a time starts and stops it; any thread may call the rest.
 */
public final class RedisServer implements AutoCloseable {
  private static final String HOST = "127.0.0.1";
  private static final int PORT_ATTEMPTS = 10;
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);

  private final ServerDirectory home;
  private final ServerConnection connection;
  private final @Nullable String password;
  private final int tlsPort;
  private volatile OsProcess process;
  private volatile boolean closed;

  private RedisServer(Builder builder) {
    password = builder.password;
    Path binary = RedisBinary.find(builder.binary);
    List<String> directives = new ArrayList<>(builder.directives);
    tlsPort = builder.speaksTls ? Ports.take() : 0;
    if (builder.speaksTls) {
      directives.add("tls-port " + tlsPort);
    }
    home = new ServerDirectory(binary, builder.sentinel, directives, builder.environment);
    int port = builder.port;
    try {
      ServerConnection chosen;
      Optional<OsProcess> started;
      int attempt = 0;
      do {
        // Another program may bind the port before the server does.
        attempt++;
        if (builder.port == 0) {
          Ports.giveBack(port);
          port = Ports.take();
        }
        chosen = new ServerConnection(HOST, port, password);
        started = home.launch(chosen, builder.port == 0 && attempt < PORT_ATTEMPTS);
      } while (started.isEmpty());
      connection = chosen;
      process = started.get();
    } catch (RuntimeException | Error e) {
      Ports.giveBack(builder.port == 0 ? port : 0, tlsPort);
      home.delete();
      throw e;
    }
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
    return uri(port());
  }

  /** The same for another port of this machine, such as that of a proxy in front. */
  String uri(int otherPort) {
    return uri(password == null ? null : ":" + password, otherPort);
  }

  static String uri(@Nullable String userInfo, int port) {
    return uri("redis", userInfo, port);
  }

  private static String uri(String scheme, @Nullable String userInfo, int port) {
    try {
      return new URI(scheme, userInfo, HOST, port, null, null, null).toString();
    } catch (URISyntaxException e) {
      throw new IllegalStateException("the password does not fit into a URI", e);
    }
  }

  /**
   * {@code rediss://127.0.0.1:port}, with the password when there is one.
   *
   * @throws IllegalStateException if it was started without {@link Builder#tls}
   */
  public String tlsUri() {
    return tlsUri(password == null ? null : ":" + password);
  }

  String tlsUri(@Nullable String userInfo) {
    return uri("rediss", userInfo, tlsPort());
  }

  /** 127.0.0.1. */
  public String host() {
    return HOST;
  }

  /** The port; it stays the same over restarts. */
  public int port() {
    return connection.port();
  }

  /**
   * The port on which it speaks TLS; it stays the same over restarts.
   *
   * @throws IllegalStateException if it was started without {@link Builder#tls}
   */
  public int tlsPort() {
    if (!speaksTls()) {
      throw new IllegalStateException(this + " was started without tls(...)");
    }
    return tlsPort;
  }

  boolean speaksTls() {
    return tlsPort != 0;
  }

  /** The port for clients: that of TLS when it speaks that. */
  int clientPort() {
    return speaksTls() ? tlsPort : port();
  }

  /** The process id; another one after each restart. */
  public long pid() {
    return process.pid();
  }

  /** Whether the process exists; also true while it is suspended. */
  public boolean isRunning() {
    return process.isRunning();
  }

  /** Whether it runs and is not suspended, so that a command to it makes sense. */
  boolean canAnswer() {
    return process.isRunning() && !process.isPaused();
  }

  /** The version of the running server, for example {@code 6.2.6}. */
  public String version() {
    return field("server", "redis_version");
  }

  /** One field of INFO; empty if the server does not report it. */
  String field(String section, String name) {
    return connection.info(section).getOrDefault(name, "");
  }

  /** The whole log of the server, over all restarts. */
  public String log() {
    return home.log();
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
   * has the data that it was configured to persist: by default none.
   *
   * @throws IllegalStateException if it does not start, for example because another process has
   *     taken the port; the message has its log
   */
  public void restart() {
    stop();
    process = home.launch(connection, false).orElseThrow();
  }

  /**
   * As {@link #restart()}, but without any persisted data: a server that comes back on a new disk.
   */
  public void restartEmpty() {
    kill();
    home.forgetData();
    restart();
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
    if (Objects.requireNonNull(words, "words").length == 0) {
      throw new IllegalArgumentException("a command has at least one word");
    }
    return connection.command(words);
  }

  /**
   * How often each command has been called since the start or {@link #resetStats()}, by its name in
   * lower case; a subcommand of Redis 7 is named {@code client|setinfo}. Commands inside scripts
   * count too. AUTH, CONFIG and INFO are left out, because this class itself sends them.
   */
  public Map<String, Long> commandStats() {
    return connection.commandStats();
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
      Ports.giveBack(port(), tlsPort);
      home.delete();
    }
  }

  @Override
  public String toString() {
    return "redis-server on port " + port() + (isRunning() ? "" : " (not running)");
  }

  Path directory() {
    return home.directory();
  }

  OsProcess osProcess() {
    return process;
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("redis-server on port " + port() + " has been closed");
    }
  }

  /** The options of a server. */
  public static final class Builder {
    private static final List<String> OURS = List.of("port", "bind", "dir", "daemonize", "logfile");

    private final List<String> directives = new ArrayList<>();
    private final Map<String, String> environment = new HashMap<>();
    private @Nullable Path binary;
    private @Nullable String password;
    private int port;
    private boolean sentinel;
    private boolean speaksTls;

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
      Objects.requireNonNull(directive, "directive");
      Objects.requireNonNull(values, "values");
      String name = directive.toLowerCase(Locale.ROOT); // as Redis reads it
      if (OURS.contains(name)) {
        throw new IllegalArgumentException("'%s' is set by RedisServer".formatted(directive));
      }
      if (!directive.matches("[A-Za-z0-9-]+")) {
        throw new IllegalArgumentException("'%s' is not a directive".formatted(directive));
      }
      if (name.equals("requirepass") && values.length == 1) {
        password = values[0].isEmpty() ? null : values[0];
      }
      directives.add(
          Arrays.stream(values)
              .map(ServerDirectory::quoted)
              .collect(Collectors.joining(" ", directive + " ", "")));
      return this;
    }

    /** Sets an environment variable of the process; the others are those of this JVM. */
    public Builder environment(String name, String value) {
      environment.put(Objects.requireNonNull(name, "name"), Objects.requireNonNull(value, "value"));
      return this;
    }

    /**
     * Makes it speak TLS too, on its own free port ({@link #tlsPort}), without client certificates.
     *
     * @param certificate PEM, for 127.0.0.1; trusted by the server too
     * @param key PEM
     */
    public Builder tls(Path certificate, Path key) {
      Objects.requireNonNull(certificate, "certificate");
      Objects.requireNonNull(key, "key");
      config("tls-cert-file", certificate.toString());
      config("tls-key-file", key.toString());
      config("tls-ca-cert-file", certificate.toString());
      config("tls-auth-clients", "no");
      speaksTls = true;
      return this;
    }

    /**
     * Starts it as a sentinel; it watches a master by {@code config("sentinel", "monitor", name,
     * host, port, quorum)}.
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
     *     before it was ready, or was not ready within 30 s; the message has its log
     */
    public RedisServer start() {
      return new RedisServer(this);
    }
  }
}
