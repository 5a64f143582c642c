package io.mortise.it.support;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import java.util.List;

/** The resources that a client uses, and its threads. */
public final class ClientResources {
  private ClientResources() {}

  /** Waits until the client uses nothing, lingering channels included. */
  public static void awaitNone(LockClient client) {
    Eventually.untilAsserted(
        "the client is idle",
        () -> assertTrue(client.status().isIdle(), client.status()::toString));
  }

  /** Returns the names of the client's live platform threads. */
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
