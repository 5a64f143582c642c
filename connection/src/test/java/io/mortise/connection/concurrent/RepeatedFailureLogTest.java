package io.mortise.connection.concurrent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;

/** An action that fails again and again. */
class RepeatedFailureLogTest {
  private final Exception failure = new Exception("on purpose");

  private final List<String> lines = new ArrayList<>();
  private boolean lacksMemory;
  private final RepeatedFailureLog failures = new RepeatedFailureLog(logger(), "it failed");

  private Logger logger() {
    return (Logger)
        Proxy.newProxyInstance(
            Logger.class.getClassLoader(),
            new Class<?>[] {Logger.class},
            (proxy, method, arguments) -> {
              if (lacksMemory) {
                throw new OutOfMemoryError("on purpose");
              }
              lines.add(method.getName() + ": " + arguments[0]);
              return null;
            });
  }

  @Test
  void theFirstFailureOfASeriesIsAnErrorInTheLog() {
    for (int i = 0; i < 3; i++) {
      failures.failed(failure);
    }

    assertEquals(List.of("error: it failed", "debug: it failed", "debug: it failed"), lines);
  }

  @Test
  void aSuccessEndsTheSeries() {
    failures.succeeded();
    failures.failed(failure);
    failures.succeeded();
    failures.failed(failure);

    assertEquals(List.of("error: it failed", "error: it failed"), lines);
  }

  @Test
  void aFailureThatCouldNotBeLoggedIsNotTheFirst() {
    lacksMemory = true;
    failures.failed(failure);
    lacksMemory = false;

    failures.failed(failure);

    assertEquals(List.of("error: it failed"), lines);
  }
}
