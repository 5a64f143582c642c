package io.mortise.testkit;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The options of all data nodes of a cluster, or of a set-up with sentinels.
 *
 * <p><b>Threads.</b> Not safe for use by several threads.
 */
final class NodeOptions {
  private final List<Consumer<RedisServer.Builder>> settings = new ArrayList<>();
  private @Nullable Path binary;
  private @Nullable String password;
  private @Nullable String userInfo;

  void binary(Path file) {
    set(builder -> builder.binary(file));
    binary = file;
  }

  @Nullable Path binary() {
    return binary;
  }

  void tls(Path certificate, Path key) {
    set(builder -> builder.tls(certificate, key));
  }

  void config(String directive, String... values) {
    Objects.requireNonNull(directive, "directive");
    Objects.requireNonNull(values, "values");
    if (directive.equalsIgnoreCase("requirepass") || directive.equalsIgnoreCase("masterauth")) {
      throw new IllegalArgumentException(
          "'%s' is set by password(...), for all nodes".formatted(directive));
    }
    String[] copy = values.clone();
    set(builder -> builder.config(directive, copy));
  }

  void password(String secret) {
    password = Preconditions.notEmpty("password", secret);
    userInfo = userInfo == null || userInfo.startsWith(":") ? ":" + secret : userInfo;
    set(builder -> builder.config("requirepass", secret).config("masterauth", secret));
  }

  void user(String name, String secret, String... rules) {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(secret, "password");
    Objects.requireNonNull(rules, "rules");
    if (!name.matches("[A-Za-z0-9_.-]+")) {
      throw new IllegalArgumentException("'%s' is not a name of a user".formatted(name));
    }
    userInfo = name + ":" + secret;
    List<String> words = new ArrayList<>(List.of(name, "on", ">" + secret));
    words.addAll(rules.length == 0 ? List.of("~*", "&*", "+@all") : List.of(rules));
    set(builder -> builder.config("user", words.toArray(new String[0])));
  }

  /** The password of the default user, by which the nodes and the testkit reach the nodes. */
  @Nullable String password() {
    return password;
  }

  /** The URI of a node, with the credentials that a client is to use. */
  String uri(RedisServer node) {
    return node.speaksTls() ? node.tlsUri(userInfo) : RedisServer.uri(userInfo, node.port());
  }

  RedisServer.Builder newNode() {
    RedisServer.Builder builder = RedisServer.builder();
    settings.forEach(setting -> setting.accept(builder));
    return builder;
  }

  private void set(Consumer<RedisServer.Builder> setting) {
    Objects.requireNonNull(setting).accept(RedisServer.builder()); // bad input fails here
    settings.add(setting);
  }
}
