package io.mortise.spring.boot.locked;

import io.mortise.core.DistributedLock;
import io.mortise.spring.boot.LockNotAcquiredException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.GenericTypeResolver;
import org.springframework.util.ReflectionUtils;

/**
 * The result for the caller of a method whose lock was not acquired within the wait.
 *
 * <p><b>Threads.</b> Implementations are immutable; any thread may call them.
 */
@FunctionalInterface
interface BusyAnswer {

  /** Returns the result, or throws in its place. */
  @Nullable Object answer(
      DistributedLock lock, Duration waited, Object target, @Nullable Object[] arguments)
      throws Throwable;

  /** Throws; the failure of a stage is thrown too, and made a failed stage by the caller. */
  static BusyAnswer throwing(Method method) {
    return (lock, waited, target, arguments) -> {
      throw new LockNotAcquiredException(
          lock.name(),
          "lock '%s' of %s was not acquired within %s: others held it all the time"
              .formatted(lock.name(), LockNameTemplate.describe(method), waited));
    };
  }

  /**
   * Returns the empty value of the type.
   *
   * @throws IllegalArgumentException if the type has none
   */
  static BusyAnswer skipping(Class<?> type) {
    if (type.isPrimitive() && type != void.class) {
      throw new IllegalArgumentException(
          "whenBusy = SKIP needs a result for the caller, and %s has no empty value;"
                  .formatted(type)
              + " return an Optional, or name a fallback");
    }
    Object empty = emptyValue(type);
    return (lock, waited, target, arguments) -> empty;
  }

  private static @Nullable Object emptyValue(Class<?> type) {
    if (type == Optional.class) {
      return Optional.empty();
    }
    if (type == OptionalInt.class) {
      return OptionalInt.empty();
    }
    if (type == OptionalLong.class) {
      return OptionalLong.empty();
    }
    if (type == OptionalDouble.class) {
      return OptionalDouble.empty();
    }
    return null; // the advice makes a stage of it
  }

  /**
   * Calls another method of the object.
   *
   * @param returnType the type of the method's result, in the class of the object
   * @throws IllegalArgumentException if the class has no such method with the same parameters and a
   *     return type that fits
   */
  static BusyAnswer calling(String name, Method method, Class<?> returnType, Class<?> targetClass) {
    Method found = ReflectionUtils.findMethod(targetClass, name, method.getParameterTypes());
    // the method may have the parameters of a generic class, which only a bridge has in its
    // subclass
    Method fallback = found == null ? null : BridgeMethodResolver.findBridgedMethod(found);
    if (fallback == null || fallback.equals(method)) {
      throw new IllegalArgumentException(
          "the fallback '%s' is no other method of %s with the same parameters"
              .formatted(name, targetClass.getSimpleName()));
    }
    Class<?> other = GenericTypeResolver.resolveReturnType(fallback, targetClass);
    if (returnType != void.class && !returnType.isAssignableFrom(other)) {
      throw new IllegalArgumentException(
          "the fallback '%s' returns %s, and the method %s".formatted(name, other, returnType));
    }
    ReflectionUtils.makeAccessible(fallback);
    return (lock, waited, target, arguments) -> {
      try {
        return fallback.invoke(target, arguments);
      } catch (InvocationTargetException e) {
        throw e.getCause() == null ? e : e.getCause();
      }
    };
  }
}
