package io.mortise.spring.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.mortise.core.LockClient;
import io.mortise.core.LockEvent;
import io.mortise.micrometer.LockMetrics;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** A client whose events are counted, and which no gauge shows, is named in the log. */
@ExtendWith(OutputCaptureExtension.class)
class UnwatchedClientTest {
  private static final String WARNING = "call LockMetrics.watch(client)";

  private static LockEvent requestOf(String client) {
    return LockEvent.builder(LockEvent.Type.REQUESTED, client, Instant.EPOCH)
        .lock("lock", "orders")
        .build();
  }

  @Test
  void theFirstEventOfAClientThatIsNotWatchedWarnsOnce(CapturedOutput output) {
    try (LockMetrics metrics = LockMetrics.create();
        LockClient watched = metrics.watch(LockClient.create("redis://localhost:1"))) {
      metrics.onEvent(requestOf("unbound"));
      metrics.bindTo(new SimpleMeterRegistry());
      metrics.onEvent(requestOf(watched.id()));
      assertThat(output).doesNotContain(WARNING);

      metrics.onEvent(requestOf("another"));
      metrics.onEvent(requestOf(watched.id()));
      metrics.onEvent(requestOf("a-third"));
    }

    assertThat(output).containsOnlyOnce(WARNING).contains("client another notifies LockMetrics");
  }

  /** A bean may lock before the application has started. */
  @Test
  void theClientOfTheApplicationIsWatchedFromItsFirstEvent(CapturedOutput output) {
    new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                LockMetricsAutoConfiguration.class, MortiseAutoConfiguration.class))
        .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
        .withPropertyValues("mortise.redis.uri=redis://localhost:1")
        .withBean(EarlyUser.class)
        .run(context -> assertThat(context).hasNotFailed());

    assertThat(output).doesNotContain(WARNING);
  }

  static class EarlyUser {
    EarlyUser(LockClient client, LockMetrics metrics, MeterRegistry registry) {
      metrics.bindTo(registry);
      metrics.onEvent(requestOf(client.id()));
      assertThat(registry.get("mortise.lock.holds").gauge().value()).isZero();
    }
  }
}
