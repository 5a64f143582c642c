/**
 * Connections to Redis: pools, topologies, the execution of scripts, and subscriptions. Contains no
 * lock logic; exported to {@code io.mortise.core} only.
 */
@org.jspecify.annotations.NullMarked
@SuppressWarnings({
  "module",
  "requires-automatic",
  "requires-transitive-automatic"
}) // Jedis is an automatic module
module io.mortise.connection {
  requires transitive io.mortise.scripts;
  requires static transitive org.jspecify;
  requires static com.google.errorprone.annotations;
  requires transitive redis.clients.jedis;
  requires com.google.common;
  requires org.apache.commons.pool2;
  requires org.slf4j;

  exports io.mortise.connection.concurrent to
      io.mortise.core;
  exports io.mortise.connection.pool to
      io.mortise.core;
  exports io.mortise.connection.pipeline to
      io.mortise.core;
  exports io.mortise.connection.topology to
      io.mortise.core;
  exports io.mortise.connection.command to
      io.mortise.core;
  exports io.mortise.connection.pubsub to
      io.mortise.core;
}
