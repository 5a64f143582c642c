package io.mortise.spring.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.core.LockClient;
import io.mortise.spring.boot.Locked;
import io.mortise.spring.boot.locked.LockedAdvisor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.Advised;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;

/** A bean that is made before Spring's creator of proxies would run its methods without locks. */
@Timeout(60)
class EarlyLockedBeanTest {
  static class Shop {
    @Locked(name = "stock")
    public void sell() {}
  }

  static class ShopFactory implements FactoryBean<Shop> {
    @Override
    public Shop getObject() {
      return new Shop();
    }

    @Override
    public Class<?> getObjectType() {
      return Shop.class;
    }
  }

  record First(Shop shop) implements BeanPostProcessor, PriorityOrdered {
    @Override
    public int getOrder() {
      return 0;
    }
  }

  record Early(Object shop) implements BeanPostProcessor, Ordered {
    @Override
    public int getOrder() {
      return 0;
    }
  }

  record ForDefinitions(Shop shop) implements BeanFactoryPostProcessor, PriorityOrdered {
    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {}

    @Override
    public int getOrder() {
      return HIGHEST_PRECEDENCE;
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class NeededFirst {
    @Bean
    static First first(Shop shop) {
      return new First(shop);
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class NeededEarly {
    @Bean
    static Early early(Shop shop) {
      return new Early(shop);
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class NeededForDefinitions {
    @Bean
    static ForDefinitions forDefinitions(Shop shop) {
      return new ForDefinitions(shop);
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class NeededLater {
    @Bean
    static Early early(ObjectProvider<Shop> shop) {
      return new Early(shop);
    }

    @Bean
    static First first(@Lazy Shop shop) {
      return new First(shop);
    }
  }

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(MortiseAutoConfiguration.class, LockedAutoConfiguration.class))
          .withBean(LockClient.class, () -> LockClient.create("redis://localhost:1"));

  private static void assertFails(ApplicationContextRunner runner) {
    runner.run(
        context ->
            assertThat(context)
                .getFailure()
                .rootCause()
                .hasMessageContaining("the bean 'shop' has @Locked methods")
                .hasMessageContaining("ObjectProvider"));
  }

  @ParameterizedTest
  @ValueSource(classes = {NeededFirst.class, NeededEarly.class, NeededForDefinitions.class})
  void aBeanThatIsMadeBeforeItsProxyCanBeFailsTheStart(Class<?> needing) {
    assertFails(runner.withBean("shop", Shop.class).withUserConfiguration(needing));
    assertFails(runner.withBean("shop", ShopFactory.class).withUserConfiguration(needing));
  }

  /** All that have an order are made before the first of them is at work. */
  @Test
  void aBeanThatIsMadeAfterTheCreatorOfProxiesAndBeforeItIsAtWorkFailsTheStart() {
    assertFails(
        runner
            .withInitializer(
                context ->
                    AopConfigUtils.registerAutoProxyCreatorIfNecessary(
                        (BeanDefinitionRegistry) context.getBeanFactory()))
            .withBean("shop", Shop.class)
            .withUserConfiguration(NeededEarly.class));
  }

  @Test
  void aBeanThatIsNeededLaterIsLocked() {
    runner
        .withBean("shop", Shop.class)
        .withUserConfiguration(NeededLater.class)
        .run(
            context ->
                assertThat(((Advised) context.getBean(Shop.class)).getAdvisors())
                    .hasAtLeastOneElementOfType(LockedAdvisor.class));
  }

  /** As the mock of a test. */
  @Test
  void anObjectThatIsRegisteredInPlaceOfABeanIsTakenAsItIs() {
    runner
        .withBean("shop", Shop.class)
        .withInitializer(context -> context.getBeanFactory().registerSingleton("shop", new Shop()))
        .withUserConfiguration(NeededEarly.class)
        .run(context -> assertThat(context).hasNotFailed());
  }
}
