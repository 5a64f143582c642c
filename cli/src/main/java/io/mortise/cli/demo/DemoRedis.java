package io.mortise.cli.demo;

import io.mortise.testkit.RedisServer;
import java.net.URI;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisException;

/** The Redis of a demo: that of the user, or one that is started for it and ends with it. */
final class DemoRedis implements AutoCloseable {
  private static final Pattern VERSION = Pattern.compile("(?m)^redis_version:(\\S+)");

  private final @Nullable RedisServer embedded;
  private final String uri;
  private final RedisClient client;
  private final String description;

  private DemoRedis(@Nullable RedisServer embedded, String uri) {
    this.embedded = embedded;
    this.uri = uri;
    this.client = RedisClient.create(uri);
    this.description =
        "Redis %s at %s".formatted(version(client), withoutPassword(URI.create(uri)));
  }

  /**
   * Connects.
   *
   * @throws DemoFailure if that is not possible
   */
  static DemoRedis open(Optional<URI> given) {
    return given.isPresent() ? connect(given.get()) : embedded();
  }

  private static DemoRedis connect(URI uri) {
    try {
      return new DemoRedis(null, uri.toString());
    } catch (JedisException e) {
      throw new DemoFailure(
          "%s cannot be used: %s. Is it running, and is the password right? Without --redis the demo starts its own."
              .formatted(withoutPassword(uri), reason(e)),
          e);
    }
  }

  private static DemoRedis embedded() {
    RedisServer server;
    try {
      server = RedisServer.start();
    } catch (RuntimeException e) {
      throw new DemoFailure(
          "no Redis could be started (%s). Give the demo one that runs: --redis redis://host:port"
              .formatted(e.getMessage()),
          e);
    }
    try {
      return new DemoRedis(server, server.uri());
    } catch (JedisException e) {
      server.close();
      throw new DemoFailure("the Redis just started cannot be used: " + reason(e), e);
    }
  }

  /** The URI, with its password. */
  String uri() {
    return uri;
  }

  /** Version and address, without the password. */
  @Override
  public String toString() {
    return embedded == null ? description : description + " (started for the demo)";
  }

  RedisClient client() {
    return client;
  }

  @Override
  public void close() {
    try (client) {
      if (embedded != null) {
        embedded.close();
      }
    }
  }

  private static String version(RedisClient client) {
    Matcher version = VERSION.matcher(client.info("server"));
    return version.find() ? version.group(1) : "of unknown version";
  }

  private static String withoutPassword(URI uri) {
    return "%s://%s%s"
        .formatted(uri.getScheme(), uri.getHost(), uri.getPort() < 0 ? "" : ":" + uri.getPort());
  }

  /** The message of the root cause: that of the pool says only that there is no connection. */
  private static String reason(Throwable e) {
    Throwable root = e;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    String message = root.getMessage();
    return message == null ? root.getClass().getSimpleName() : message.replaceAll("\\.+$", "");
  }
}
