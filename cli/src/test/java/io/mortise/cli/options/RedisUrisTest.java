package io.mortise.cli.options;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RedisUrisTest {
  @Test
  void optionsCountBeforeTheVariableAndTheVariableBeforeTheDefault() {
    Map<String, String> listed = Map.of("MORTISE_REDIS", " redis://a \n redis://b:1 ");
    assertEquals(List.of("redis://c"), RedisUris.of(List.of("redis://c"), listed));
    assertEquals(List.of("redis://a", "redis://b:1"), RedisUris.of(List.of(), listed));
    assertEquals(List.of("redis://127.0.0.1:6379"), RedisUris.of(List.of(), Map.of()));
    assertEquals(
        List.of("redis://127.0.0.1:6379"), RedisUris.of(List.of(), Map.of("MORTISE_REDIS", " ")));
  }

  @ParameterizedTest
  @CsvSource({
    "redis://a:1/2,             redis://:p%40%20s%2B@a:1/2",
    "redis://joe@a,             redis://joe:p%40%20s%2B@a",
    "redis://joe:mine@a,        redis://joe:mine@a",
    "redis-sentinel://a#main,   redis-sentinel://:p%40%20s%2B@a#main",
    "no uri,                    no uri",
  })
  void thePasswordOfTheEnvironmentIsForUrisWithoutOne(String uri, String expected) {
    assertEquals(List.of(expected), RedisUris.of(List.of(uri), Map.of("REDISCLI_AUTH", "p@ s+")));
  }

  @Test
  void messagesShowNoUserAndNoPassword() {
    assertEquals("rediss://a:1/2", RedisUris.shown("rediss://joe:p@a:1/2"));
    assertEquals("redis://a", RedisUris.shown("redis://a"));
  }
}
