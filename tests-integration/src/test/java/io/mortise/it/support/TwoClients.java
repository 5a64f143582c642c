package io.mortise.it.support;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * One server, and two clients on it that share nothing else, as two processes: for all tests of a
 * class when the field is static, otherwise for each test.
 */
public class TwoClients
    implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {
  private final LockOptions options;
  private boolean forOneTest;
  private RedisServer server;
  private LockClient here;
  private LockClient there;

  /** Two clients with default options. */
  public TwoClients() {
    this(LockOptions.defaults());
  }

  public TwoClients(Duration lease) {
    this(LockOptions.builder().lease(lease).build());
  }

  public TwoClients(LockOptions options) {
    this.options = options;
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    start();
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    forOneTest = server == null;
    if (forOneTest) {
      start();
    }
  }

  @Override
  public void afterEach(ExtensionContext context) {
    if (forOneTest) {
      close();
    }
  }

  /** Starts server and clients, without JUnit: it would start them for each nested class too. */
  public void start() {
    server = RedisServer.start();
    here = client(options);
    there = client(options);
  }

  @Override
  public void afterAll(ExtensionContext context) {
    close();
  }

  public void close() {
    try {
      there.close();
      here.close();
    } finally {
      server.close();
    }
  }

  public RedisServer server() {
    return server;
  }

  public LockClient here() {
    return here;
  }

  public LockClient there() {
    return there;
  }

  /** Returns a new client with the options of these two. */
  public LockClient client() {
    return client(options);
  }

  /** Returns a new client with that lease. */
  public LockClient client(Duration lease) {
    return client(LockOptions.builder().lease(lease).build());
  }

  public LockClient client(LockOptions other) {
    return LockClient.create(server.uri(), other);
  }
}
