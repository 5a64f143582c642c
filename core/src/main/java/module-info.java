/**
 * Distributed locks on Redis: the API that every lock shares, {@code RedisLock}, and the engine on
 * which the other lock families are built.
 */
@org.jspecify.annotations.NullMarked
@SuppressWarnings({
  "module",
  "requires-automatic",
  "requires-transitive-automatic"
}) // Jedis names itself so
module io.mortise.core {
  requires io.mortise.connection;
  requires transitive io.mortise.scripts;
  requires static transitive org.jspecify;
  requires static com.google.errorprone.annotations;
  requires static jdk.jfr; // a JVM without it records nothing
  requires transitive redis.clients.jedis;
  requires com.google.common;
  requires org.slf4j;

  exports io.mortise.core;
  exports io.mortise.core.composite to
      io.mortise.multilock,
      io.mortise.redlock;
  exports io.mortise.core.internal.engine to
      io.mortise.testkit; // clients whose waits a test may time out
  exports io.mortise.core.spi;
}
