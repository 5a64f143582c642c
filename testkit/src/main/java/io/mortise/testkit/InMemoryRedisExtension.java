package io.mortise.testkit;

import io.mortise.core.LockClient;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
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
 */
public final class InMemoryRedisExtension
    implements BeforeEachCallback, AfterEachCallback, ParameterResolver {
  private static final ExtensionContext.Namespace NAMESPACE =
      ExtensionContext.Namespace.create(InMemoryRedisExtension.class);

  /** One test: its server, and the client that is made when a parameter asks for it. */
  private static final class Fixture {
    final InMemoryRedis redis = InMemoryRedis.start();
    private @Nullable LockClient client;

    synchronized LockClient client() {
      LockClient opened = client;
      if (opened == null) {
        opened = redis.client();
        client = opened;
      }
      return opened;
    }
  }

  /** For JUnit. */
  public InMemoryRedisExtension() {}

  @Override
  public void beforeEach(ExtensionContext context) {
    fixture(context);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    Fixture fixture = context.getStore(NAMESPACE).remove(Fixture.class, Fixture.class);
    if (fixture != null) {
      fixture.redis.close();
    }
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == InMemoryRedis.class || type == LockClient.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    Fixture fixture = fixture(context);
    return parameter.getParameter().getType() == LockClient.class
        ? fixture.client()
        : fixture.redis;
  }

  private static Fixture fixture(ExtensionContext context) {
    ExtensionContext.Store store = context.getStore(NAMESPACE);
    return store.computeIfAbsent(Fixture.class, type -> new Fixture(), Fixture.class);
  }
}
