package io.mortise.cli;

import io.mortise.core.LockClient;
import io.mortise.testkit.RedisServer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A Redis server and a client of it, for all tests of a class. */
final class RedisAndClient implements BeforeAllCallback, AfterAllCallback {
  private @Nullable RedisServer server;
  private @Nullable LockClient client;

  @Override
  public void beforeAll(ExtensionContext context) {
    server = RedisServer.start();
    client = LockClient.create(server.uri());
  }

  @Override
  public void afterAll(ExtensionContext context) {
    client().close();
    server().close();
  }

  RedisServer server() {
    return Objects.requireNonNull(server);
  }

  LockClient client() {
    return Objects.requireNonNull(client);
  }

  String uri() {
    return server().uri();
  }
}
