package io.mortise.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.testkit.JavaProcess;
import io.mortise.testkit.RedisSentinels;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The password of sentinels, which comes from the environment: in processes of their own. */
@Timeout(120)
class SentinelPasswordTest {
  private static final Duration LIVENESS = Duration.ofSeconds(60);
  private static final String VARIABLE = "MORTISE_SENTINEL_PASSWORD";

  private static JavaProcess run(String password, String... redis) {
    return JavaProcess.builder(Main.class)
        .environment(VARIABLE, password)
        .arguments("run")
        .arguments(redis)
        .arguments("deploy", "--", "echo", "in")
        .start();
  }

  /** Runs a command under a lock, with the right password of the sentinels. */
  private static void assertLocks(String... redis) {
    try (JavaProcess run = run("w4tch", redis)) {
      assertEquals(0, run.awaitExit(LIVENESS), run::output);
      assertTrue(run.output().lines().anyMatch("in"::equals), run::output);
    }
  }

  @Test
  void theSentinelsTakeItAndTheirMasterDoesNotGetIt() {
    try (RedisSentinels redis =
            RedisSentinels.builder()
                .replicas(0)
                .sentinels(1)
                .password("s3cret")
                .sentinelPassword("w4tch")
                .start();
        RedisServer second = RedisServer.start();
        RedisServer third = RedisServer.start()) {
      String uri =
          "redis-sentinel://:s3cret@%s#%s"
              .formatted(redis.sentinelHostPorts().iterator().next(), redis.masterName());

      assertLocks("--redis", uri);
      assertLocks("--redis", uri, "--sentinel-user", "default");
      assertLocks(
          "--redis",
          uri,
          "--redis",
          second.uri(),
          "--redis",
          third.uri(),
          "--sentinel-user",
          "default");
      try (JavaProcess run = run("wrong", "--redis", uri)) {
        assertEquals(122, run.awaitExit(LIVENESS), run::output);
        assertTrue(run.output().contains(VARIABLE), run::output);
      }
    }
  }

  @Test
  void theVariableIsForSentinelsAlone() {
    try (RedisServer server = RedisServer.start()) {
      assertLocks("--redis", server.uri());
    }
  }

  @Test
  void aUserWithoutPasswordOrSentinelsIsRefused() {
    String uri = "REDIS-sentinel://127.0.0.1:1#master";
    try (JavaProcess run = run("", "--redis", uri, "--sentinel-user", "ops")) {
      assertEquals(125, run.awaitExit(LIVENESS), run::output);
      assertTrue(run.output().contains("--sentinel-user needs the variable " + VARIABLE));
    }
    CommandRun noSentinels =
        CommandRun.of("inspect", "--redis", "redis://127.0.0.1:1", "--sentinel-user", "ops", "x");
    assertEquals(2, noSentinels.status());
    assertTrue(noSentinels.err().contains("--sentinel-user is for a URI of redis-sentinel://"));
    CommandRun empty = CommandRun.of("inspect", "--redis", uri, "--sentinel-user", "", "x");
    assertEquals(2, empty.status());
    assertTrue(empty.err().contains("--sentinel-user must not be empty"), empty.err());
  }
}
