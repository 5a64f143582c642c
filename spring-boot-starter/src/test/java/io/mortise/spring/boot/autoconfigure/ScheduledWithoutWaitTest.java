package io.mortise.spring.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.core.LockClient;
import io.mortise.spring.boot.Locked;
import io.mortise.spring.boot.WhenBusy;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.scheduling.annotation.Scheduled;

/** A job that each node would run, one after the other, is named at the start. */
@ExtendWith(OutputCaptureExtension.class)
class ScheduledWithoutWaitTest {
  private static final String WARNING = "have @Locked without waitTime";

  @Scheduled(cron = "0 0 2 * * *")
  @Retention(RetentionPolicy.RUNTIME)
  @interface Nightly {}

  static class Jobs {
    @Scheduled(cron = "0 0 2 * * *")
    @Locked(name = "report")
    public void report() {}

    @Scheduled(cron = "0 0 2 * * *")
    @Scheduled(cron = "0 0 3 * * *")
    @Locked(name = "invoices", whenBusy = WhenBusy.SKIP)
    public void invoices() {}

    @Nightly
    @Locked(name = "backup", atLeast = "5s")
    public void backup() {}

    @Scheduled(cron = "0 0 2 * * *")
    @Locked(name = "each", waitTime = "1m")
    public void onEachNode() {}
  }

  static class OtherMethods {
    @Scheduled(cron = "0 0 2 * * *")
    @Locked(name = "job", waitTime = "0s", atLeast = "5m", whenBusy = WhenBusy.SKIP)
    public void job() {}

    @Scheduled(cron = "0 0 2 * * *")
    public void unlocked() {}

    @Locked(name = "stock")
    public void called() {}
  }

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(MortiseAutoConfiguration.class, LockedAutoConfiguration.class))
          .withBean(LockClient.class, () -> LockClient.create("redis://localhost:1"));

  @Test
  void oneWarningNamesTheMethodsTheFactAndTheRemedy(CapturedOutput output) {
    runner
        .withBean("one", Jobs.class)
        .withBean("two", Jobs.class)
        .withBean(OtherMethods.class)
        .withPropertyValues("mortise.locked.wait-time=7s")
        .run(context -> assertThat(context).hasNotFailed());

    assertThat(output)
        .containsOnlyOnce(WARNING)
        .contains("[Jobs.backup(), Jobs.invoices(), Jobs.report()] " + WARNING)
        .contains("for up to PT7S, and runs the job too if it gets it in that time")
        .contains("waitTime = \"0s\", whenBusy = WhenBusy.SKIP, and an atLeast")
        .doesNotContain("onEachNode");
  }

  @Test
  void nothingIsSaidWhereTheWaitIsGivenOrThereIsNone(CapturedOutput output) {
    runner.withBean(OtherMethods.class).run(context -> assertThat(context).hasNotFailed());
    runner
        .withBean(Jobs.class)
        .withPropertyValues("mortise.locked.wait-time=0s")
        .run(context -> assertThat(context).hasNotFailed());
    runner
        .withBean(Jobs.class)
        .withPropertyValues("mortise.locked.enabled=false")
        .run(context -> assertThat(context).hasNotFailed());

    assertThat(output).doesNotContain(WARNING);
  }
}
