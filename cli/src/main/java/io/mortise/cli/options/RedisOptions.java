package io.mortise.cli.options;

import io.mortise.core.ConnectionSecurity;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that say where Redis is, for every command that asks it. */
public final class RedisOptions {
  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec command;

  @Option(
      names = "--redis",
      paramLabel = "URI",
      description =
          "redis://[user@]host[:port][/database], or rediss:// for TLS; several hosts with commas, or"
              + " redis-cluster://host, for a Redis Cluster; redis-sentinel://host,host...#master for"
              + " sentinels. Repeated for independent servers: the lock is then held on a majority of"
              + " them. Default: the variable "
              + RedisUris.URIS_VARIABLE
              + ", in which spaces are between several, or "
              + RedisUris.DEFAULT
              + ". The password comes from the variable "
              + RedisUris.PASSWORD_VARIABLE
              + ", or from the URI (user:password@), which other users of the machine can see on a"
              + " command line.")
  private List<String> given = new ArrayList<>();

  @Option(
      names = "--cacert",
      paramLabel = "FILE",
      description =
          "Certificates that are trusted in place of those of the JVM, in PEM; for rediss://,"
              + " rediss-cluster:// and rediss-sentinel://.")
  private @Nullable Path cacert;

  @Option(
      names = "--sentinel-user",
      paramLabel = "USER",
      description =
          "The user at sentinels; the one in the URI is that of the server which they watch. Default:"
              + " the default user. The password for the sentinels, if they want one, comes from the"
              + " variable "
              + RedisUris.SENTINEL_PASSWORD_VARIABLE
              + ".")
  private @Nullable String sentinelUser;

  @Option(
      names = "--namespace",
      paramLabel = "PREFIX",
      description = "The beginning of all names, such as 'billing:'. Default: none.")
  private String namespace = "";

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      converter = TimeConverter.class,
      description = "How long one command to Redis may take; 10ms to 10m. Default: 2s.")
  private @Nullable Duration timeout;

  /** As {@link #open(UnaryOperator)}, with no other settings. */
  public RedisClients open() {
    return open(settings -> settings);
  }

  /**
   * Creates a client for each server. Connects to none of them.
   *
   * @param settings sets what else the command needs
   * @throws ParameterException if an option is wrong; the message shows no password
   */
  public RedisClients open(UnaryOperator<LockOptions.Builder> settings) {
    LockOptions options = options(settings);
    Path file = cacert;
    SSLContext tls =
        file == null ? null : CheckedOptions.valueOf(command, () -> TrustedCertificates.of(file));
    List<String> uris = RedisUris.of(given, System.getenv());
    checkSentinelUser(uris);
    RedisClients clients =
        new RedisClients(uris.stream().map(RedisUris::shown).toList(), new ArrayList<>());
    for (String uri : uris) {
      try {
        clients.all().add(LockClient.create(uri, security(uri, tls), options));
      } catch (IllegalArgumentException e) {
        clients.close();
        throw new ParameterException(
            command.commandLine(),
            (given.isEmpty() ? RedisUris.URIS_VARIABLE : "--redis")
                + ": "
                + OptionNames.in(String.valueOf(e.getMessage())),
            e);
      }
    }
    return clients;
  }

  private void checkSentinelUser(List<String> uris) {
    if (sentinelUser == null) {
      return;
    }
    if (uris.stream().noneMatch(RedisUris::namesSentinels)) {
      throw new ParameterException(
          command.commandLine(),
          "--sentinel-user is for a URI of redis-sentinel:// or rediss-sentinel://");
    }
    if (sentinelUser.isEmpty()) {
      throw new ParameterException(
          command.commandLine(), "--sentinel-user must not be empty; without it: the default user");
    }
    if (sentinelPassword().isEmpty()) {
      throw new ParameterException(
          command.commandLine(),
          "--sentinel-user needs the variable " + RedisUris.SENTINEL_PASSWORD_VARIABLE);
    }
  }

  private static String sentinelPassword() {
    return Objects.requireNonNullElse(System.getenv(RedisUris.SENTINEL_PASSWORD_VARIABLE), "");
  }

  /** The user and the password of sentinels are for the URIs that name some. */
  private ConnectionSecurity security(String uri, @Nullable SSLContext tls) {
    ConnectionSecurity.Builder security = ConnectionSecurity.builder();
    if (tls != null) {
      security.tls(tls);
    }
    if (RedisUris.namesSentinels(uri) && !sentinelPassword().isEmpty()) {
      security.sentinelPassword(sentinelPassword());
      if (sentinelUser != null) {
        security.sentinelUser(sentinelUser);
      }
    }
    return security.build();
  }

  private LockOptions options(UnaryOperator<LockOptions.Builder> settings) {
    LockOptions.Builder builder = LockOptions.builder().namespace(namespace);
    if (timeout != null) {
      builder.commandTimeout(timeout);
    }
    try {
      return settings.apply(builder).build();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(
          command.commandLine(), OptionNames.inRefusal(String.valueOf(e.getMessage())), e);
    }
  }
}
