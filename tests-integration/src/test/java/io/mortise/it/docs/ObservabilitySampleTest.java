package io.mortise.it.docs;

import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.LockClient;
import io.mortise.core.LockEvent;
import io.mortise.core.LockListener;
import io.mortise.core.LockOptions;
import io.mortise.testkit.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The sample of observability.md is the method {@code sample} of this class. */
@Timeout(60)
class ObservabilitySampleTest {
  private static final Path DOCUMENT = Path.of("../docs/observability.md");
  private static final Path SELF =
      Path.of("src/test/java", ObservabilitySampleTest.class.getName().replace('.', '/') + ".java");

  private final List<Duration> waits = new CopyOnWriteArrayList<>();
  private final List<Duration> holds = new CopyOnWriteArrayList<>();
  private final List<String> alarms = new CopyOnWriteArrayList<>();

  @Test
  void theSampleCompilesAndWorks() {
    try (RedisServer server = RedisServer.start();
        LockClient client = LockClient.create(server.uri(), sample())) {
      client.lock("orders").lock();
      client.lock("orders").unlock();
      until("both are measured", () -> waits.size() == 1 && holds.size() == 1);
      client.lock("orders").lock();
    }

    assertEquals(List.of("orders: LeaseLoss"), alarms, "by the closing of the client");
  }

  private LockOptions sample() {
    LockListener listener =
        event -> {
          switch (event.type()) {
            case ACQUIRED -> waits.add(event.duration().orElseThrow());
            case RELEASED -> holds.add(event.duration().orElseThrow());
            case LOST -> alarm(event.lockName().orElseThrow(), event.loss().orElseThrow());
            case UNREACHABLE -> alarm(event.server().orElseThrow(), event.cause().orElseThrow());
            default -> {} // later versions have more types
          }
        };
    LockOptions options = LockOptions.builder().listener(listener).build();
    return options;
  }

  private void alarm(String what, Object why) {
    alarms.add(what + ": " + why.getClass().getSimpleName());
  }

  @Test
  void eachLineOfTheSampleIsInThisClass() throws Exception {
    String document = Files.readString(DOCUMENT);
    String sample =
        document.substring(
            document.indexOf("    LockListener listener ="), document.indexOf("Several listeners"));
    String self = words(Files.readString(SELF));

    List<String> missing =
        sample
            .lines()
            .map(ObservabilitySampleTest::words)
            .filter(line -> !self.contains(line))
            .toList();

    assertEquals(List.of(), missing);
  }

  @Test
  void theTableHasEveryType() throws Exception {
    List<String> rows = Files.readString(DOCUMENT).lines().toList();

    assertEquals(
        List.of(),
        Arrays.stream(LockEvent.Type.values())
            .filter(type -> rows.stream().noneMatch(row -> row.startsWith("| `" + type + "` |")))
            .toList());
  }

  private static String words(String text) {
    return text.replaceAll("\\s+", " ").trim();
  }
}
