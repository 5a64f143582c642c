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

  private static void assertEnds(int status, String part, String password, String... arguments) {
    try (JavaProcess mortise =
        JavaProcess.builder(Main.class)
            .environment(VARIABLE, password)
            .arguments(arguments)
            .start()) {
      assertEquals(status, mortise.awaitExit(LIVENESS), mortise::output);
      assertTrue(mortise.output().contains(part), mortise::output);
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
            .start()) {
      String uri =
          "redis-sentinel://:s3cret@%s#%s"
              .formatted(redis.sentinelHostPorts().iterator().next(), redis.masterName());

      assertEnds(0, "in", "w4tch", "run", "--redis", uri, "deploy", "--", "echo", "in");
      assertEnds(
          0,
          "in",
          "w4tch",
          "run",
          "--redis",
          uri,
          "--sentinel-user",
          "default",
          "d",
          "--",
          "echo",
          "in");
      assertEnds(122, VARIABLE, "wrong", "run", "--wait", "0", "--redis", uri, "d", "--", "true");
    }
  }

  @Test
  void theVariableIsForSentinelsAlone() {
    try (RedisServer server = RedisServer.start()) {
      assertEnds(0, "in", "w4tch", "run", "--redis", server.uri(), "d", "--", "echo", "in");
    }
  }

  @Test
  void aUserWithoutPasswordOrSentinelsIsRefused() {
    String uri = "redis-sentinel://127.0.0.1:1#master";
    CommandRun noPassword = CommandRun.of("inspect", "--redis", uri, "--sentinel-user", "ops", "x");

    assertEquals(2, noPassword.status());
    assertTrue(noPassword.err().contains("--sentinel-user needs the variable " + VARIABLE));
    assertEnds(
        2,
        "a URI of redis-sentinel://",
        "w4tch",
        "inspect",
        "--redis",
        "redis://127.0.0.1:1",
        "--sentinel-user",
        "ops",
        "x");
  }
}
