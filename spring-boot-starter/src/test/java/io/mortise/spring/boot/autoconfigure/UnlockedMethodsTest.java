package io.mortise.spring.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.core.LockClient;
import io.mortise.spring.boot.Locked;
import io.mortise.spring.boot.locked.LockedAdvisor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** An application whose locks are switched off says which of its beans run without them. */
@ExtendWith(OutputCaptureExtension.class)
class UnlockedMethodsTest {
  private static final String WARNING = "mortise.enabled is false";

  static class Shop {
    @Locked(name = "stock")
    public void sell() {}
  }

  private final ApplicationContextRunner switchedOff =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  MortiseAutoConfiguration.class,
                  LockedAutoConfiguration.class,
                  UnlockedMethodsAutoConfiguration.class))
          .withPropertyValues("mortise.enabled=false");

  @Test
  void theBeansWithoutTheirLocksAreNamedOnce(CapturedOutput output) {
    switchedOff
        .withBean("shop", Shop.class)
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(LockedAdvisor.class));

    assertThat(output).containsOnlyOnce(WARNING).contains("the beans [shop]");
  }

  @Test
  void nothingIsSaidWhereNoMethodRunsWithoutItsLock(CapturedOutput output) {
    switchedOff.run(context -> assertThat(context).hasNotFailed());
    switchedOff
        .withBean("shop", Shop.class)
        .withBean(LockClient.class, () -> LockClient.create("redis://localhost:1"))
        .run(context -> assertThat(context).hasSingleBean(LockedAdvisor.class));
    switchedOff
        .withBean("shop", Shop.class)
        .withPropertyValues("mortise.locked.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean(LockedAdvisor.class));
    switchedOff
        .withBean("shop", Shop.class)
        .withPropertyValues("mortise.enabled=true", "mortise.redis.uri=redis://localhost:1")
        .run(context -> assertThat(context).hasSingleBean(LockedAdvisor.class));

    assertThat(output).doesNotContain(WARNING);
  }
}
