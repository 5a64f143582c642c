package io.mortise.testkit;

import io.mortise.core.LockClient;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives each test an {@link InMemoryRedis} of its own, and a {@link LockClient} on it, as
 * parameters; both are closed after the test.
 *
 * <pre>{@code
 * @ExtendWith(InMemoryRedisExtension.class)
 * class OrderServiceTest {
 *   @Test
 *   void aLostHoldRollsBack(InMemoryRedis redis, LockClient locks) { ... }
 * }
 * }</pre>
 *
 * <p><b>Threads.</b> Tests may run in parallel; each has its own server and client.
 */
public final class InMemoryRedisExtension implements ParameterResolver {
  private static final ExtensionFixtures FIXTURES =
      new ExtensionFixtures(InMemoryRedisExtension.class);

  /** For JUnit. */
  public InMemoryRedisExtension() {}

  /** Parameters of test methods, and of those before and after each; not of a constructor. */
  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return context.getTestMethod().isPresent()
        && (type == InMemoryRedis.class || type == LockClient.class);
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    InMemoryRedis redis = FIXTURES.get(context, InMemoryRedis.class, InMemoryRedis::start);
    return parameter.getParameter().getType() == InMemoryRedis.class
        ? redis
        : FIXTURES.get(context, LockClient.class, redis::client);
  }
}
