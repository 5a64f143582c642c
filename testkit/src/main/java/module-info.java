/**
 * Tools for tests of distributed locks: real Redis processes, a fault proxy, child JVMs, a log of
 * holds with its checker, and the contract that every lock is held to.
 */
@org.jspecify.annotations.NullMarked
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"}) // Jedis, Awaitility
module io.mortise.testkit {
  requires static transitive org.jspecify;
  requires transitive io.mortise.core;
  requires transitive org.junit.jupiter.api;
  requires awaitility;
  requires com.google.common;
  requires embedded.redis;
  requires luaj.jme;
  requires org.apache.commons.pool2;
  requires org.slf4j;
  requires transitive redis.clients.jedis;

  exports io.mortise.testkit;

  // JUnit runs the contracts by reflection.
  opens io.mortise.testkit to
      org.junit.platform.commons;
}
