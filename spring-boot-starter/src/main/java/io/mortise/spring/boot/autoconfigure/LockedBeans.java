package io.mortise.spring.boot.autoconfigure;

import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Finds the beans of an application by their classes, of which a proxy of interfaces shows nothing.
 *
 * <p><b>Threads.</b> Spring calls it on the thread that starts the application.
 */
final class LockedBeans {
  private LockedBeans() {}

  /**
   * Returns the names of the beans whose classes match. Makes none of them. A class that cannot be
   * loaded, or refers to one, matches nothing: its bean is lazy, or the start has failed before.
   */
  static List<String> names(ConfigurableListableBeanFactory beans, Predicate<Class<?>> matching) {
    return Arrays.stream(beans.getBeanDefinitionNames())
        .flatMap(
            name ->
                find(beans, name, type -> matching.test(type) ? List.of(name) : List.of()).stream())
        .toList();
  }

  /** Returns what is found in the classes of the beans, each once. As {@link #names}. */
  static Set<String> find(
      ConfigurableListableBeanFactory beans, Function<Class<?>, List<String>> lookup) {
    return Arrays.stream(beans.getBeanDefinitionNames())
        .flatMap(name -> find(beans, name, lookup).stream())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static List<String> find(
      ConfigurableListableBeanFactory beans, String name, Function<Class<?>, List<String>> lookup) {
    try {
      Class<?> type = targetClass(beans, name);
      return type == null ? List.of() : lookup.apply(type);
    } catch (RuntimeException | LinkageError e) {
      if (isOfMissingClass(e)) {
        return List.of();
      }
      throw e;
    }
  }

  private static @Nullable Class<?> targetClass(
      ConfigurableListableBeanFactory beans, String name) {
    Class<?> type = beans.getType(name, false);
    return type != null && Proxy.isProxyClass(type)
        ? AutoProxyUtils.determineTargetClass(beans, name)
        : type;
  }

  /** Returns whether a class could not be looked at because it, or one in it, cannot be loaded. */
  static boolean isOfMissingClass(Throwable failure) {
    return isMissingClass(failure) || isMissingClass(failure.getCause());
  }

  private static boolean isMissingClass(@Nullable Throwable failure) {
    return failure instanceof LinkageError || failure instanceof ClassNotFoundException;
  }
}
