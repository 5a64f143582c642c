package io.mortise.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.testkit.RedisServer;
import io.mortise.testkit.RedisServerExtension;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** A web server: what Actuator answers, and what happens to a request when the server stops. */
@ExtendWith(RedisServerExtension.class)
@Timeout(180)
class WebApplicationTest {
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  @RestController
  static class Orders {
    private static final CountDownLatch BEGUN = new CountDownLatch(1);
    private static final CountDownLatch MAY_END = new CountDownLatch(1);

    @GetMapping("/orders/{id}")
    @Locked(name = "order:#{#id}")
    public String order(@PathVariable("id") String id) throws InterruptedException {
      BEGUN.countDown();
      if (!MAY_END.await(30, TimeUnit.SECONDS)) {
        return "nobody let it end";
      }
      return CurrentLease.get().state().name();
    }
  }

  @SpringBootConfiguration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @Import(Orders.class)
  static class Application {}

  private static ConfigurableApplicationContext start(String redis) {
    return new SpringApplicationBuilder(Application.class)
        .properties(
            "server.port=0",
            "mortise.redis.uri=" + redis,
            "mortise.command-timeout=5s",
            "management.endpoints.web.exposure.include=health,locks",
            "management.endpoint.health.show-details=always",
            "management.health.redis.enabled=false")
        .run();
  }

  private static CompletableFuture<HttpResponse<String>> get(
      ConfigurableApplicationContext context, String path) {
    String port = context.getEnvironment().getRequiredProperty("local.server.port");
    URI uri = URI.create("http://localhost:" + port + path);
    return HTTP.sendAsync(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
  }

  @Test
  void aRequestThatHoldsALockEndsBeforeTheClientIsClosed(RedisServer redis) throws Exception {
    ConfigurableApplicationContext context = start(redis.uri());
    LockClient locks = context.getBean(LockClient.class);
    CompletableFuture<HttpResponse<String>> request = get(context, "/orders/42");
    Orders.BEGUN.await();

    Thread shutdown = new Thread(context::close);
    shutdown.start();
    await().until(() -> shutdown.getState() == Thread.State.TIMED_WAITING); // for the request
    assertThat(locks.isClosed()).isFalse();
    assertThat(locks.status().holds()).isEqualTo(1);
    Orders.MAY_END.countDown();
    shutdown.join();

    assertThat(request.get().body()).isEqualTo("HELD");
    assertThat(locks.isClosed()).isTrue();
    assertThat(redis.command("EXISTS", "order:42")).isEqualTo(0L);
  }

  @Test
  void theEndpointShowsHoldsAndHealth(RedisServer redis) throws Exception {
    try (ConfigurableApplicationContext context = start(redis.uri())) {
      LockClient locks = context.getBean(LockClient.class);
      try (Lease lease = locks.lock("a/b").tryAcquire().orElseThrow()) {
        assertThat(get(context, "/actuator/locks").get().body())
            .contains("\"clientId\":\"" + locks.id() + "\"", "\"holds\":1")
            .contains("\"waiters\":0", "\"unreachableServers\":0");
        assertThat(get(context, "/actuator/locks/a/b").get().body())
            .contains("\"mode\":\"EXCLUSIVE\"", "\"lastToken\":" + lease.fencingToken())
            .contains("\"thisClient\":true", "\"released\":false");
      }
      assertThat(get(context, "/actuator/locks/a/b").get().body()).contains("\"mode\":\"FREE\"");
      assertThat(get(context, "/actuator/health").get().body())
          .contains("\"locks\":{", "\"reachable\":true", "\"severity\"");
      locks.lock("a/b").atLeast(Duration.ofHours(1)).tryAcquire().orElseThrow().close();
      assertThat(get(context, "/actuator/locks/a/b").get().body()).contains("\"released\":true");
    }
  }

  @Test
  void theEndpointTakesANameWithAnyCharacterAsAQueryParameter(RedisServer redis) throws Exception {
    try (ConfigurableApplicationContext context = start(redis.uri())) {
      LockClient locks = context.getBean(LockClient.class);
      for (String name : List.of("file:///x", "/a/", "a b;c=d&e%2F", "x{y}")) {
        try (Lease lease = locks.lock(name).tryAcquire().orElseThrow()) {
          String query = URLEncoder.encode(name, StandardCharsets.UTF_8);
          assertThat(get(context, "/actuator/locks?name=" + query).get().body())
              .contains("\"name\":\"" + name + "\"", "\"lastToken\":" + lease.fencingToken())
              .contains("\"mode\":\"EXCLUSIVE\"");
        }
      }
    }
  }

  @Test
  void theEndpointRefusesWhatIsNoName(RedisServer redis) throws Exception {
    try (ConfigurableApplicationContext context = start(redis.uri())) {
      for (String path : List.of("?name=", "?name=%20", "/%20", "?name=a%7B")) {
        HttpResponse<String> response = get(context, "/actuator/locks" + path).get();
        assertThat(response.statusCode()).as(path).isEqualTo(400);
      }
    }
  }

  @Test
  void withoutRedisTheApplicationIsDownAndSaysWhy() throws Exception {
    try (ConfigurableApplicationContext context = start("redis://localhost:1")) {
      HttpResponse<String> health = get(context, "/actuator/health").get();
      assertThat(health.statusCode()).isEqualTo(503);
      assertThat(health.body()).contains("\"reachable\":false", "\"remedy\"");
    }
  }
}
