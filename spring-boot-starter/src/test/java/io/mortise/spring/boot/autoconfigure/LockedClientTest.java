package io.mortise.spring.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.core.LockClient;
import io.mortise.spring.boot.Locked;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.support.GenericApplicationContext;

/** Locked methods have one client, or the application does not start. */
class LockedClientTest {
  static class Shop {
    @Locked(name = "stock")
    public void sell() {}
  }

  interface Store {
    void save();
  }

  static class LockedStore implements Store {
    @Override
    @Locked(name = "store")
    public void save() {}
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
  void aBeanBehindAProxyOfItsInterfacesNeedsOneClientToo() {
    two.withBean("two", LockClient.class, LockedClientTest::client)
        .withPropertyValues("spring.aop.proxy-target-class=false")
        .withBean("store", LockedStore.class)
        .run(context -> assertThat(context).getFailure().hasMessageContaining("'store'"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aBeanWithLockedMethodsIsDestroyedBeforeTheClient(boolean classProxies) {
    two.withPropertyValues("spring.aop.proxy-target-class=" + classProxies)
        .withBean("store", LockedStore.class)
        .run(
            context -> {
              Object store = context.getBean("store");
              assertThat(Proxy.isProxyClass(store.getClass())).isNotEqualTo(classProxies);
              assertThat(
                      context
                          .getSourceApplicationContext()
                          .getBeanFactory()
                          .getDependentBeans("one"))
                  .contains("store");
            });
  }

  static class Missing {}

  static class Unresolvable {
    @SuppressWarnings("UnusedMethod") // by reflection
    void run(Missing missing) {}
  }

  /** Defines {@code Unresolvable} anew, without the type of its parameter. */
  private static final class WithoutMissing extends ClassLoader {
    WithoutMissing() {
      super(LockedClientTest.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (name.equals(Missing.class.getName())) {
        throw new ClassNotFoundException(name);
      }
      return name.equals(Unresolvable.class.getName())
          ? defined(name)
          : super.loadClass(name, resolve);
    }

    private Class<?> defined(String name) throws ClassNotFoundException {
      Class<?> known = findLoadedClass(name);
      if (known != null) {
        return known;
      }
      try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
        byte[] bytes = in.readAllBytes();
        return defineClass(name, bytes, 0, bytes.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }

  @Test
  void aLazyBeanWhoseClassCannotBeResolvedIsPassedOver() throws Exception {
    RootBeanDefinition definition = new RootBeanDefinition(); // as of a method with @Bean
    definition.setTargetType(new WithoutMissing().loadClass(Unresolvable.class.getName()));
    definition.setInstanceSupplier(Object::new);
    definition.setLazyInit(true);
    two.withInitializer(
            context ->
                ((GenericApplicationContext) context).registerBeanDefinition("lazy", definition))
        .withBean("shop", Shop.class)
        .run(context -> assertThat(context).hasNotFailed());
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
