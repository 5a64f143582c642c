/**
 * Mortise in a Spring Boot application. Spring's reflection needs the packages of the
 * configurations and of what they make; what is not on the class path of the application is not
 * used.
 */
@org.jspecify.annotations.NullMarked
@SuppressWarnings({
  "module",
  "requires-automatic",
  "requires-transitive-automatic"
}) // the modules of Spring, and Jedis, name themselves so
module io.mortise.spring.boot {
  requires transitive io.mortise.core;
  requires io.mortise.fairlock;
  requires io.mortise.rwlock;
  requires static transitive org.jspecify;
  requires org.slf4j;
  requires redis.clients.jedis;
  requires static com.fasterxml.jackson.annotation; // of an annotation in spring.boot.health
  requires spring.aop;
  requires spring.beans;
  requires spring.boot;
  requires spring.boot.autoconfigure;
  requires spring.context;
  requires spring.core;
  requires spring.expression;
  requires static io.mortise.micrometer;
  requires static micrometer.core;
  requires static spring.boot.actuator;
  requires static spring.boot.actuator.autoconfigure;
  requires static spring.boot.data.redis;
  requires static spring.boot.health;
  requires static spring.data.redis;
  requires static transitive spring.integration.core;
  requires static spring.tx;

  exports io.mortise.spring.boot;
  exports io.mortise.spring.boot.integration;

  opens io.mortise.spring.boot.actuate;
  opens io.mortise.spring.boot.autoconfigure;
}
