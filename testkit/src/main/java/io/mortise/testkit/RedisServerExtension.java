package io.mortise.testkit;

import io.mortise.core.LockClient;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives the tests of a class a {@link RedisServer}, empty before each test, and each test a {@link
 * LockClient} on it, as parameters.
 *
 * <pre>{@code
 * @ExtendWith(RedisServerExtension.class)
 * class OrderServiceTest {
 *   @Test
 *   void survivesACrash(RedisServer redis, LockClient locks) { ... }
 * }
 * }</pre>
 */
public final class RedisServerExtension
    implements BeforeAllCallback,
        AfterAllCallback,
        BeforeEachCallback,
        AfterEachCallback,
        ParameterResolver {
  private @Nullable RedisServer server;
  private @Nullable LockClient client;

  /** For JUnit. */
  public RedisServerExtension() {}

  @Override
  public void beforeAll(ExtensionContext context) {
    server = RedisServer.start();
  }

  @Override
  public void afterAll(ExtensionContext context) {
    server().close();
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    server().command("FLUSHALL");
  }

  @Override
  public void afterEach(ExtensionContext context) {
    LockClient opened = client;
    if (opened != null) {
      client = null;
      opened.close();
    }
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == RedisServer.class || type == LockClient.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    if (parameter.getParameter().getType() == RedisServer.class) {
      return server();
    }
    LockClient opened = client;
    if (opened == null) {
      opened = LockClient.create(server().uri());
      client = opened;
    }
    return opened;
  }

  private RedisServer server() {
    RedisServer started = server;
    if (started == null) {
      throw new IllegalStateException("the extension was not started by JUnit");
    }
    return started;
  }
}
