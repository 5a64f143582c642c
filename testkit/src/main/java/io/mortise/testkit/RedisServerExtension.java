package io.mortise.testkit;

import io.mortise.core.LockClient;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives the tests of a class a {@link RedisServer}, empty before each test, and each test a {@link
 * LockClient} on it, as parameters. A server that a test has left suspended or dead is started
 * again before the next one.
 *
 * <pre>{@code
 * @ExtendWith(RedisServerExtension.class)
 * class OrderServiceTest {
 *   @Test
 *   void survivesACrash(RedisServer redis, LockClient locks) { ... }
 * }
 * }</pre>
 *
 * <p><b>Threads.</b> Test classes may run in parallel; the tests of one class share its server, and
 * must not.
 */
public final class RedisServerExtension implements BeforeEachCallback, ParameterResolver {
  private static final ExtensionFixtures FIXTURES =
      new ExtensionFixtures(RedisServerExtension.class);

  /** For JUnit. */
  public RedisServerExtension() {}

  @Override
  public void beforeEach(ExtensionContext context) {
    RedisServer server = server(context);
    if (!server.canAnswer()) { // or all later tests would fail with the one that left it so
      server.restart();
    }
    server.command("FLUSHALL");
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == RedisServer.class
        || (type == LockClient.class && context.getTestMethod().isPresent());
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    RedisServer server = server(context);
    return parameter.getParameter().getType() == RedisServer.class
        ? server
        : FIXTURES.get(context, LockClient.class, () -> LockClient.create(server.uri()));
  }

  /** The server of the outermost class; JUnit closes it with that class. */
  private static RedisServer server(ExtensionContext context) {
    ExtensionContext outermost = context;
    while (outermost.getParent().flatMap(ExtensionContext::getTestClass).isPresent()) {
      outermost = outermost.getParent().orElseThrow();
    }
    return FIXTURES.get(outermost, RedisServer.class, RedisServer::start);
  }
}
