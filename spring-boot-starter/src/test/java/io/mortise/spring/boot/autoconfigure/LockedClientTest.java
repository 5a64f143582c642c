package io.mortise.spring.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.core.LockClient;
import io.mortise.spring.boot.Locked;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Locked methods have one client, or the application does not start. */
class LockedClientTest {
  static class Shop {
    @Locked(name = "stock")
    public void sell() {}
  }

  private static LockClient client() {
    return LockClient.create("redis://localhost:1");
  }

  private final ApplicationContextRunner two =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(MortiseAutoConfiguration.class, LockedAutoConfiguration.class))
          .withBean("one", LockClient.class, LockedClientTest::client);

  @Test
  void severalClientsNeedAPrimaryOneWhereMethodsAreLocked() {
    ApplicationContextRunner equal =
        two.withBean("two", LockClient.class, LockedClientTest::client);
    equal.run(context -> assertThat(context).hasNotFailed());
    equal
        .withBean("shop", Shop.class)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .hasMessageContaining("'shop'")
                    .hasMessageContaining("[one, two]")
                    .hasMessageContaining("@Primary"));
  }

  @Test
  void aPrimaryClientIsThatOfLockedMethods() {
    two.withBean(
            "two",
            LockClient.class,
            LockedClientTest::client,
            definition -> definition.setPrimary(true))
        .withBean("shop", Shop.class)
        .run(context -> assertThat(context).hasNotFailed());
  }
}
