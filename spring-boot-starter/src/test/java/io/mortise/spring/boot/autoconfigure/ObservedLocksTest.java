package io.mortise.spring.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.micrometer.LockWaitConvention;
import io.mortise.micrometer.ObservedLock;
import io.mortise.spring.boot.LockNotAcquiredException;
import io.mortise.spring.boot.Locked;
import io.mortise.testkit.InMemoryRedis;
import io.mortise.testkit.InMemoryRedisExtension;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/** The waits of locked methods are observations of the application's registry. */
@ExtendWith(InMemoryRedisExtension.class)
@Timeout(30)
class ObservedLocksTest {
  public static class Shop {
    @Locked(name = "stock:#{#article}", waitTime = "20ms")
    public String sell(String article) {
      return article;
    }

    @Locked(name = "stock:#{#article}")
    public CompletableFuture<String> order(String article) {
      return CompletableFuture.completedFuture(article);
    }
  }

  private final List<String> waits = new CopyOnWriteArrayList<>();
  private final ObservationRegistry registry = ObservationRegistry.create();

  ObservedLocksTest() {
    registry
        .observationConfig()
        .observationHandler(
            new ObservationHandler<>() {
              @Override
              public boolean supportsContext(Observation.Context context) {
                return true;
              }

              @Override
              public void onStop(Observation.Context context) {
                waits.add(
                    "%s %s %s"
                        .formatted(
                            context.getName(),
                            context.getHighCardinalityKeyValue("mortise.lock.name").getValue(),
                            context.getLowCardinalityKeyValue("outcome").getValue()));
              }
            });
  }

  private ApplicationContextRunner shop(InMemoryRedis redis) {
    return new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                MortiseAutoConfiguration.class,
                LockedAutoConfiguration.class,
                ObservedLocksAutoConfiguration.class))
        .withBean(LockClient.class, redis::client)
        .withBean(ObservationRegistry.class, () -> registry)
        .withBean(Shop.class);
  }

  @Test
  void eachCallIsAnObservationOfItsWait(InMemoryRedis redis) {
    shop(redis)
        .run(
            context -> {
              Shop shop = context.getBean(Shop.class);
              assertThat(shop.sell("shoe")).isEqualTo("shoe");
              assertThat(shop.order("hat").join()).isEqualTo("hat");
              try (Lease other = redis.occupy(client -> client.lock("stock:shoe"))) {
                assertThat(other.isValid()).isTrue();
                assertThatThrownBy(() -> shop.sell("shoe"))
                    .isInstanceOf(LockNotAcquiredException.class);
              }
            });

    assertThat(waits)
        .containsExactly(
            "mortise.lock.wait stock:shoe acquired",
            "mortise.lock.wait stock:hat acquired",
            "mortise.lock.wait stock:shoe not_acquired");
  }

  @SpringBootConfiguration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Application {
    @Bean
    Shop shop() {
      return new Shop();
    }
  }

  /** The starter of Actuator brings the registry and what makes timers of observations. */
  @Test
  void withActuatorTheyAreATimer(InMemoryRedis redis) {
    try (ConfigurableApplicationContext context =
        new SpringApplicationBuilder(Application.class)
            .web(WebApplicationType.NONE)
            .properties("spring.jmx.enabled=false")
            .initializers(it -> it.getBeanFactory().registerSingleton("locks", redis.client()))
            .run()) {
      context.getBean(Shop.class).sell("shoe");

      assertThat(
              context
                  .getBean(MeterRegistry.class)
                  .get("mortise.lock.wait")
                  .tag("outcome", "acquired")
                  .timer()
                  .count())
          .isEqualTo(1);
    }
  }

  @Test
  void theApplicationMayNameThem(InMemoryRedis redis) {
    LockWaitConvention named =
        new LockWaitConvention() {
          @Override
          public String getName() {
            return "shop.wait";
          }
        };
    shop(redis)
        .withBean(LockWaitConvention.class, () -> named)
        .run(context -> context.getBean(Shop.class).sell("shoe"));

    assertThat(waits).containsExactly("shop.wait stock:shoe acquired");
  }

  @Test
  void thereAreNoneWhereTheyAreSwitchedOffOrTheModuleIsNotThere(InMemoryRedis redis) {
    shop(redis)
        .withPropertyValues("mortise.locked.observed=false")
        .run(context -> assertThat(context.getBean(Shop.class).sell("a")).isEqualTo("a"));
    shop(redis)
        .withClassLoader(new FilteredClassLoader(ObservedLock.class))
        .run(context -> assertThat(context.getBean(Shop.class).sell("a")).isEqualTo("a"));
    shop(redis)
        .withBean("another", ObservationRegistry.class, ObservationRegistry::create)
        .run(context -> assertThat(context.getBean(Shop.class).sell("a")).isEqualTo("a"));

    assertThat(waits).isEmpty();
  }
}
