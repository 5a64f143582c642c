package io.mortise.spring.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import redis.clients.jedis.RedisSentinelClient;

class JedisVersionTest {
  @Test
  void theJedisOfThisBuildWillDo() {
    assertThatCode(JedisVersion::check).doesNotThrowAnyException();
  }

  /** Jedis 7.0 has no such class. */
  @Test
  void anOlderOneIsRefusedWithARemedy() {
    assertThatThrownBy(() -> JedisVersion.check(new FilteredClassLoader(RedisSentinelClient.class)))
        .isInstanceOf(UnsupportedJedisException.class)
        .hasMessageMatching("locks need Jedis 8.0.0 or later, .* has jedis-8\\.0\\..*jar");

    FailureAnalysis analysis =
        new UnsupportedJedisFailureAnalyzer()
            .analyze(new IllegalStateException(new UnsupportedJedisException("jedis-7.4.1.jar")));
    assertThat(analysis.getDescription()).contains("7.4.1");
    assertThat(analysis.getAction()).contains("jedis.version");
  }
}
