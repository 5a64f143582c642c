package io.mortise.testkit;

import java.nio.file.Path;

/**
 * The options of data nodes, which {@link RedisCluster} and {@link RedisSentinels} have in common.
 *
 * @param <B> the builder itself
 *     <p><b>Threads.</b> Not safe for use by several threads.
 */
public abstract class NodeBuilder<B extends NodeBuilder<B>> {
  final NodeOptions options = new NodeOptions();

  NodeBuilder() {}

  abstract B self();

  /** Sets the {@code redis-server} to run, as {@link RedisServer.Builder#binary}. */
  public B binary(Path binary) {
    options.binary(binary);
    return self();
  }

  /** Sets the password that all clients of the nodes need, the nodes among themselves too. */
  public B password(String password) {
    options.password(password);
    return self();
  }

  /**
   * Adds a user, which the URIs of the nodes then name.
   *
   * @param rules as in ACL SETUSER; everything is allowed if there are none
   */
  public B user(String name, String password, String... rules) {
    options.user(name, password, rules);
    return self();
  }

  /** Adds a line to the {@code redis.conf} of all nodes, as {@link RedisServer.Builder#config}. */
  public B config(String directive, String... values) {
    options.config(directive, values);
    return self();
  }
}
