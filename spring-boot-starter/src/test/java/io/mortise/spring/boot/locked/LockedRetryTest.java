package io.mortise.spring.boot.locked;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.core.LockClient;
import io.mortise.spring.boot.CurrentLease;
import io.mortise.spring.boot.Locked;
import io.mortise.spring.boot.autoconfigure.LockedAutoConfiguration;
import io.mortise.spring.boot.autoconfigure.MortiseAutoConfiguration;
import io.mortise.testkit.InMemoryRedis;
import io.mortise.testkit.InMemoryRedisExtension;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.NameMatchMethodPointcutAdvisor;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;

/** Whether the attempts of a retry are one hold, or one each. */
@ExtendWith(InMemoryRedisExtension.class)
@Timeout(30)
class LockedRetryTest {
  static class Job {
    private final List<Long> tokens = new ArrayList<>();

    @Locked(name = "job")
    public List<Long> run() {
      return attempt();
    }

    @Locked(name = "job")
    @Retryable(delay = 1)
    public List<Long> runRetryable() {
      return attempt();
    }

    private List<Long> attempt() {
      tokens.add(CurrentLease.get().fencingToken());
      if (tokens.size() < 3) {
        throw new IllegalStateException("attempt " + tokens.size());
      }
      return tokens;
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableResilientMethods
  static class Resilient {}

  private static ApplicationContextRunner runner(InMemoryRedis redis) {
    return new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(MortiseAutoConfiguration.class, LockedAutoConfiguration.class))
        .withBean(LockClient.class, redis::client)
        .withBean(Job.class);
  }

  @Test
  void eachAttemptOfSpringsOwnRetryHasItsHold(InMemoryRedis redis) {
    runner(redis)
        .withUserConfiguration(Resilient.class)
        .run(
            context ->
                assertThat(context.getBean(Job.class).runRetryable())
                    .hasSize(3)
                    .doesNotHaveDuplicates());
  }

  /** 5 before the last is the default of resilience4j, and 200 what the document advises. */
  @ParameterizedTest
  @CsvSource({"5, 1", "200, 3"})
  void theOrderOfAnotherRetryDecides(int beforeTheLast, int holds, InMemoryRedis redis) {
    NameMatchMethodPointcutAdvisor retry =
        new NameMatchMethodPointcutAdvisor((MethodInterceptor) LockedRetryTest::retry);
    retry.addMethodName("run");
    retry.setOrder(Ordered.LOWEST_PRECEDENCE - beforeTheLast);
    runner(redis)
        .withBean(
            NameMatchMethodPointcutAdvisor.class,
            () -> retry,
            definition -> definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE))
        .run(context -> assertThat(new HashSet<>(context.getBean(Job.class).run())).hasSize(holds));
  }

  private static Object retry(MethodInvocation invocation) throws Throwable {
    while (true) {
      try {
        return ((ProxyMethodInvocation) invocation).invocableClone().proceed();
      } catch (IllegalStateException e) {
        assertThat(e).hasMessageStartingWith("attempt");
      }
    }
  }
}
