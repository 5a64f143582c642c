package io.mortise.spring.boot.locked;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.core.LockClient;
import io.mortise.spring.boot.CurrentLease;
import io.mortise.spring.boot.Locked;
import io.mortise.spring.boot.autoconfigure.LockedAutoConfiguration;
import io.mortise.spring.boot.autoconfigure.MortiseAutoConfiguration;
import io.mortise.testkit.InMemoryRedis;
import io.mortise.testkit.InMemoryRedisExtension;
import java.lang.reflect.Proxy;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** A locked method is locked by whichever type and proxy it is called. */
@ExtendWith(InMemoryRedisExtension.class)
@Timeout(30)
class LockedProxyTest {
  interface Store<T> {
    String save(T value);
  }

  static class OrderStore implements Store<Long> {
    @Override
    @Locked(name = "order:#{#id}")
    public String save(Long id) {
      return CurrentLease.get().lockName(); // throws without the lock
    }
  }

  interface Repository {
    @Locked(name = "row:#{#p0}")
    String find(long id);
  }

  private static ApplicationContextRunner runner(InMemoryRedis redis) {
    return new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(MortiseAutoConfiguration.class, LockedAutoConfiguration.class))
        .withBean(LockClient.class, redis::client);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aCallThroughAGenericInterfaceIsLocked(boolean classProxies, InMemoryRedis redis) {
    runner(redis)
        .withPropertyValues("spring.aop.proxy-target-class=" + classProxies)
        .withBean("store", OrderStore.class)
        .run(
            context -> {
              @SuppressWarnings("unchecked")
              Store<Long> store = context.getBean("store", Store.class);
              assertThat(Proxy.isProxyClass(store.getClass())).isNotEqualTo(classProxies);
              assertThat(store.save(7L)).isEqualTo("order:7");
            });
  }

  /** As a repository, whose class is made at run time. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aBeanThatIsAnInterfaceAloneIsLocked(boolean classProxies, InMemoryRedis redis) {
    Repository repository =
        (Repository)
            Proxy.newProxyInstance(
                Repository.class.getClassLoader(),
                new Class<?>[] {Repository.class},
                (proxy, method, arguments) ->
                    method.getName().equals("find")
                        ? CurrentLease.get().lockName()
                        : method.invoke(Repository.class, arguments));
    runner(redis)
        .withPropertyValues("spring.aop.proxy-target-class=" + classProxies)
        .withBean(Repository.class, () -> repository)
        .run(context -> assertThat(context.getBean(Repository.class).find(7)).isEqualTo("row:7"));
  }

  @Test
  void beansOfAParentAndOfAChildAreLocked(InMemoryRedis redis) {
    runner(redis)
        .withBean("parents", OrderStore.class)
        .run(
            parent ->
                runner(redis)
                    .withParent(parent)
                    .withBean("childs", OrderStore.class)
                    .run(
                        child -> {
                          for (String name : List.of("parents", "childs")) {
                            OrderStore store = child.getBean(name, OrderStore.class);
                            assertThat(store.save(7L)).isEqualTo("order:7");
                          }
                        }));
  }

  /** The client, and with it the advice, may be switched off in the child alone. */
  @Test
  void aChildWithoutAClientUsesThatOfItsParent(InMemoryRedis redis) {
    runner(redis)
        .run(
            parent ->
                new ApplicationContextRunner()
                    .withParent(parent)
                    .withConfiguration(AutoConfigurations.of(LockedAutoConfiguration.class))
                    .withBean(OrderStore.class)
                    .run(
                        child ->
                            assertThat(child.getBean(OrderStore.class).save(7L))
                                .isEqualTo("order:7")));
  }
}
