package io.mortise.it.support;

import static org.awaitility.Awaitility.await;

import io.mortise.core.LockClient;
import java.time.Duration;
import java.util.List;

/** What a client has in hand, and its threads. */
public final class ClientResources {
  private ClientResources() {}

  /** Waits until the client has nothing in hand, lingering channels included. */
  public static void awaitNone(LockClient client) {
    LockClient.Status nothing = new LockClient.Status(0, 0, 0, 0, 0, 0);
    await("nothing in hand").atMost(Duration.ofSeconds(20)).until(client::status, nothing::equals);
  }

  /** The platform threads of that client that live. */
  public static List<String> threads(LockClient client) {
    String mark = "-" + client.id().substring(0, 8) + "-";
    return Thread.getAllStackTraces().keySet().stream()
        .filter(Thread::isAlive)
        .map(Thread::getName)
        .filter(name -> name.startsWith("mortise-") && name.contains(mark))
        .sorted()
        .toList();
  }
}
