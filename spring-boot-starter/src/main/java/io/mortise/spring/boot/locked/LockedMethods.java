package io.mortise.spring.boot.locked;

import io.mortise.spring.boot.Locked;
import io.mortise.spring.boot.WhenBusy;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.MethodIntrospector.MetadataLookup;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ConcurrentReferenceHashMap;

/**
 * The methods with {@link Locked} of each class. A class is read and checked once, when its bean is
 * made.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 */
public final class LockedMethods {
  private static final Duration MIN_LEASE = Duration.ofMillis(1);

  private final Map<Class<?>, Map<Method, LockedMethod>> classes =
      new ConcurrentReferenceHashMap<>();
  private final UnaryOperator<@Nullable String> placeholders;

  /**
   * Creates the cache.
   *
   * @param placeholders replaces <code>${…}</code> in a text
   */
  public LockedMethods(UnaryOperator<@Nullable String> placeholders) {
    this.placeholders = placeholders;
  }

  /**
   * Returns whether a class has such a method.
   *
   * @throws IllegalStateException if one of them cannot be locked as it says
   */
  public boolean isIn(Class<?> type) {
    return AnnotationUtils.isCandidateClass(type, Locked.class) && !in(type).isEmpty();
  }

  /** Returns what the method says; empty if it has no annotation. */
  Optional<LockedMethod> find(Method method, Class<?> type) {
    Map<Method, LockedMethod> locked = in(type);
    // a call through a generic type reaches a bridge, and the annotation is on what it calls
    LockedMethod found = locked.get(AopUtils.getMostSpecificMethod(method, type));
    // a class that a proxy made at run time has the annotations only in its interfaces
    return Optional.ofNullable(found == null ? locked.get(method) : found);
  }

  private Map<Method, LockedMethod> in(Class<?> type) {
    Class<?> userClass = ClassUtils.getUserClass(type);
    Map<Method, LockedMethod> found = classes.get(userClass);
    if (found == null) {
      MetadataLookup<@Nullable LockedMethod> lookup =
          method -> {
            Locked locked = AnnotatedElementUtils.findMergedAnnotation(method, Locked.class);
            return locked == null ? null : checked(locked, method, userClass);
          };
      found = MethodIntrospector.selectMethods(userClass, lookup);
      classes.put(userClass, found);
    }
    return found;
  }

  private LockedMethod checked(Locked locked, Method method, Class<?> type) {
    try {
      return read(locked, method, type);
    } catch (IllegalArgumentException e) {
      throw new IllegalStateException(
          "@Locked on " + LockNameTemplate.describe(method) + ": " + e.getMessage(), e);
    }
  }

  private LockedMethod read(Locked locked, Method method, Class<?> type) {
    checkProxied(method);
    checkReturnType(method);
    Optional<Duration> lease = duration("lease", locked.lease());
    Duration atLeast = duration("atLeast", locked.atLeast()).orElse(Duration.ZERO);
    if (lease.isPresent() && lease.get().compareTo(MIN_LEASE) < 0) {
      throw new IllegalArgumentException("the lease is shorter than 1 ms");
    }
    if (atLeast.isNegative() || (lease.isPresent() && atLeast.compareTo(lease.get()) > 0)) {
      throw new IllegalArgumentException("atLeast is negative, or longer than the lease");
    }
    return new LockedMethod(
        method,
        LockNameTemplate.parse(resolve(locked.name()), method),
        locked.type(),
        duration("waitTime", locked.waitTime()),
        lease,
        atLeast,
        busyAnswer(locked, method, type));
  }

  private static BusyAnswer busyAnswer(Locked locked, Method method, Class<?> type) {
    if (locked.fallback().isEmpty()) {
      return locked.whenBusy() == WhenBusy.SKIP
          ? BusyAnswer.skipping(method.getReturnType())
          : BusyAnswer.throwing(method);
    }
    if (locked.whenBusy() != WhenBusy.THROW) {
      throw new IllegalArgumentException("it has a fallback and whenBusy; remove one of them");
    }
    return BusyAnswer.calling(locked.fallback(), method, type);
  }

  /** A proxy overrides a method of the class; what cannot be overridden would run unlocked. */
  private static void checkProxied(Method method) {
    int modifiers = method.getModifiers();
    if (Modifier.isPrivate(modifiers)
        || Modifier.isStatic(modifiers)
        || Modifier.isFinal(modifiers)) {
      throw new IllegalArgumentException(
          "a proxy cannot override a private, static or final method; it would run without the"
              + " lock");
    }
  }

  private static void checkReturnType(Method method) {
    Class<?> type = method.getReturnType();
    if (type == CompletableFuture.class || type == CompletionStage.class) {
      return;
    }
    if (Future.class.isAssignableFrom(type)
        || CompletionStage.class.isAssignableFrom(type)
        || Callable.class.isAssignableFrom(type)
        || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null
        || KotlinDetector.isSuspendingFunction(method)) {
      throw new IllegalArgumentException(
          "its work may go on after it has returned, when the lock is free again (%s);"
                  .formatted(type.getSimpleName())
              + " return the result, or a CompletableFuture or CompletionStage");
    }
  }

  private Optional<Duration> duration(String what, String text) {
    String value = resolve(text);
    if (value.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(DurationStyle.detectAndParse(value));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "%s '%s' is no duration, such as 5s or 500ms".formatted(what, value), e);
    }
  }

  private String resolve(String text) {
    String resolved = placeholders.apply(text);
    return resolved == null ? "" : resolved;
  }
}
