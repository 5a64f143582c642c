package io.mortise.spring.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.core.LockOptions;
import io.mortise.spring.boot.LockOptionsCustomizer;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;

/** An application with a value that the client refuses says which property has it. */
@ExtendWith(OutputCaptureExtension.class)
class InvalidPropertyTest {
  @SpringBootConfiguration(proxyBeanMethods = false)
  @ImportAutoConfiguration(MortiseAutoConfiguration.class)
  static class Application {}

  static class Customized extends Application {
    @Bean
    LockOptionsCustomizer customizer() {
      return options -> options.lease(Duration.ofMillis(2));
    }
  }

  private static void assertFails(Class<?> application, String... arguments) {
    SpringApplication failing =
        new SpringApplicationBuilder(application).web(WebApplicationType.NONE).build();
    assertThatThrownBy(() -> failing.run(arguments)).isInstanceOf(RuntimeException.class);
  }

  @ParameterizedTest
  @CsvSource({
    "mortise.namespace, x{, has a '{' that makes no hash tag",
    "mortise.lease, 10ms, 'must be from PT0.1S to PT8760H, not PT0.01S'",
    "mortise.max-hold, 1s, 'must be from PT30S to PT8760H, not PT1S'",
    "mortise.outage-timeout, -1s, must be from",
    "mortise.command-timeout, 1ms, must be from",
    "mortise.acknowledgement.replicas, -1, must not be negative",
    "mortise.acknowledgement.within, 0s, must be from",
    "mortise.tuning.max-connections, 0, 'must be at least 1, not 0'",
    "mortise.tuning.subscription-linger, -1s, must be from",
    "mortise.tuning.token-retention, 1ms, must be from",
    "mortise.tuning.clock-drift, 2, must be from",
    "mortise.tuning.max-hand-offs, -1, must be from",
    "mortise.tuning.max-hand-off-time, 1h, must be from",
  })
  void theReportNamesThePropertyAndItsOrigin(
      String property, String value, String problem, CapturedOutput output) {
    assertFails(Application.class, "--" + property + "=" + value);

    assertThat(output)
        .contains("APPLICATION FAILED TO START")
        .containsPattern(
            "\\Q" + property + "\\E (\\Q" + problem + "\\E|'x\\{' \\Q" + problem + "\\E)")
        .contains("(from \"" + property + "\" from property source \"commandLineArgs\").")
        .contains("Correct " + property + ", or remove it to get its default.")
        .doesNotContain("\tat ");
  }

  @ParameterizedTest
  @CsvSource({
    "localhost:6379, 'a Redis URI starts with redis://, redis-cluster:// or redis-sentinel://'",
    "redis://:secret@:6379, names no host",
    "redis-sentinel://:secret@localhost, ends with '#' and the name of the master",
  })
  void theReportOfAUriShowsNoPassword(String uri, String problem, CapturedOutput output) {
    assertFails(Application.class, "--mortise.redis.uri=" + uri);

    assertThat(output)
        .contains("APPLICATION FAILED TO START", "mortise.redis.uri: ", problem)
        .contains("redis-sentinel://host1,host2/0#master for sentinels")
        .doesNotContain("\tat ", "secret");
  }

  /** A property of that name has another value, or none. */
  @Test
  void aValueOfACustomizerIsNoProperty(CapturedOutput output) {
    assertFails(Customized.class, "--mortise.lease=5s");

    assertThat(output).doesNotContain("mortise.lease must").contains("lease must be from");
    assertThat(LockOptions.defaults().lease()).isGreaterThan(Duration.ofMillis(2));
  }
}
