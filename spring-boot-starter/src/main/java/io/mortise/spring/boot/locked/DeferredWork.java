package io.mortise.spring.boot.locked;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.util.ClassUtils;

/**
 * Recognizes results whose work may go on after the method that returns them has ended. Only a
 * stage notifies the advice of the end of its work, so the others are refused.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 */
final class DeferredWork {
  /** What Spring MVC waits for after the method has returned; it may not be on the class path. */
  private static final Set<String> OF_THE_WEB =
      Set.of(
          "org.springframework.web.context.request.async.DeferredResult",
          "org.springframework.web.context.request.async.WebAsyncTask",
          "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
          "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody");

  /** Each call asks for the class of its result. */
  private static final ClassValue<Boolean> DEFERRED =
      new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
          return isDeferred(type);
        }
      };

  private DeferredWork() {}

  /** Returns whether the lock of a method of this type is released when its stage completes. */
  static boolean isAwaited(Class<?> returnType) {
    return returnType == CompletableFuture.class || returnType == CompletionStage.class;
  }

  /**
   * Refuses a method whose work nobody could wait for.
   *
   * @param returnType the type of its result, in the class of the bean
   * @throws IllegalArgumentException if the work may outlive the call, and is not awaited
   */
  static void checkDeclared(Method method, Class<?> returnType) {
    if (!isAwaited(returnType)
        && (isDeferred(returnType) || KotlinDetector.isSuspendingFunction(method))) {
      throw new IllegalArgumentException(
          "its work may go on after it has returned, when the lock is free again (%s);"
                  .formatted(returnType.getSimpleName())
              + " return the result, or a CompletableFuture or CompletionStage");
    }
  }

  /**
   * Refuses a result that its declared type has hidden: {@code Object}, or a type variable.
   *
   * @throws IllegalStateException if its work may go on
   */
  static void checkReturned(Method method, Class<?> returnType, @Nullable Object result) {
    if (result != null && DEFERRED.get(result.getClass())) {
      throw new IllegalStateException(
          "@Locked on %s: it has returned a %s, whose work may go on when the lock is free again,"
                  .formatted(LockNameTemplate.describe(method), result.getClass().getSimpleName())
              + " and its return type %s does not say so; declare CompletableFuture or"
                  .formatted(returnType.getSimpleName())
              + " CompletionStage, or return the result");
    }
  }

  private static boolean isDeferred(Class<?> type) {
    return Future.class.isAssignableFrom(type)
        || CompletionStage.class.isAssignableFrom(type)
        || Callable.class.isAssignableFrom(type)
        || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null
        || isOfTheWeb(type);
  }

  private static boolean isOfTheWeb(Class<?> type) {
    return Stream.concat(
            Stream.<Class<?>>iterate(type, each -> each != null, Class::getSuperclass),
            ClassUtils.getAllInterfacesForClassAsSet(type).stream())
        .anyMatch(each -> OF_THE_WEB.contains(each.getName()));
  }
}
