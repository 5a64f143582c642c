package io.mortise.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.mortise.core.LockClient;
import io.mortise.testkit.RedisServer;
import io.mortise.testkit.RedisServerExtension;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** Two applications with one schedule: each tick is run by one of them. */
@ExtendWith(RedisServerExtension.class)
@Timeout(120)
class ScheduledJobTest {
  private static final List<Long> TICKS = new CopyOnWriteArrayList<>();

  static class Job {
    @Scheduled(cron = "*/3 * * * * *")
    @Locked(name = "job", waitTime = "0s", atLeast = "2500ms", whenBusy = WhenBusy.SKIP)
    public void run() {
      TICKS.add((Instant.now().toEpochMilli() + 200) / 3_000);
    }
  }

  @SpringBootConfiguration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @EnableScheduling
  static class Application {
    @Bean
    Job job() {
      return new Job();
    }
  }

  private static ConfigurableApplicationContext node(RedisServer redis) {
    return new SpringApplicationBuilder(Application.class)
        .web(WebApplicationType.NONE)
        .properties("mortise.redis.uri=" + redis.uri(), "spring.jmx.enabled=false")
        .run();
  }

  @Test
  void eachTickRunsOnOneNode(RedisServer redis) {
    LockClient first;
    try (ConfigurableApplicationContext one = node(redis);
        ConfigurableApplicationContext other = node(redis)) {
      first = one.getBean(LockClient.class);
      assertThat(other.getBean(LockClient.class)).isNotSameAs(first);
      TICKS.clear();
      await().atMost(Duration.ofSeconds(30)).until(() -> TICKS.size() >= 4);
    }
    assertThat(TICKS).doesNotHaveDuplicates();
    assertThat(first.isClosed()).isTrue();
  }
}
