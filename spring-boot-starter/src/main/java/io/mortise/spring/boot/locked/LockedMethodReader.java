package io.mortise.spring.boot.locked;

import io.mortise.core.LockOptions;
import io.mortise.spring.boot.Locked;
import io.mortise.spring.boot.WhenBusy;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.GenericTypeResolver;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils.MethodFilter;

/**
 * Reads the annotation of a method, and refuses one that cannot be locked as it says.
 *
 * <p><b>Threads.</b> Immutable; any thread may call any method.
 */
final class LockedMethodReader {
  private static final Duration MIN_LEASE = Duration.ofMillis(1);

  /** Other than 0, which is the same in every unit. */
  private static final Pattern BARE_NUMBER = Pattern.compile("[+-]?0*[1-9]\\d*");

  /** By name: they may not be on the class path. */
  private static final List<String> CALLBACKS =
      List.of("jakarta.annotation.PostConstruct", "jakarta.annotation.PreDestroy");

  private final UnaryOperator<@Nullable String> placeholders;

  /**
   * Creates a reader.
   *
   * @param placeholders replaces <code>${…}</code> in a text
   */
  LockedMethodReader(UnaryOperator<@Nullable String> placeholders) {
    this.placeholders = placeholders;
  }

  /**
   * Returns the settings of the method.
   *
   * @param type the class of the bean
   * @throws IllegalStateException if it cannot be locked as it says; the message names it
   */
  LockedMethod read(Locked locked, Method method, Class<?> type) {
    try {
      return checked(locked, method, type);
    } catch (IllegalArgumentException e) {
      throw new IllegalStateException(
          "@Locked on " + LockNameTemplate.describe(method) + ": " + e.getMessage(), e);
    }
  }

  private LockedMethod checked(Locked locked, Method method, Class<?> type) {
    checkProxied(method, type);
    checkCalledThroughTheBean(method);
    Class<?> returnType = GenericTypeResolver.resolveReturnType(method, type);
    DeferredWork.checkDeclared(method, returnType);
    Optional<Duration> lease = lease(locked);
    Duration atLeast = duration("atLeast", locked.atLeast()).orElse(Duration.ZERO);
    if (atLeast.isNegative() || atLeast.compareTo(lease.orElse(LockOptions.MAX_LEASE)) > 0) {
      throw new IllegalArgumentException(
          "atLeast '%s' is negative, or longer than the lease or %d days"
              .formatted(atLeast, LockOptions.MAX_LEASE.toDays()));
    }
    return new LockedMethod(
        method,
        returnType,
        LockNameTemplate.parse(resolve(locked.name()), method, type),
        locked.type(),
        waitTime(locked),
        lease,
        atLeast,
        busyAnswer(locked, method, returnType, type));
  }

  private static BusyAnswer busyAnswer(
      Locked locked, Method method, Class<?> returnType, Class<?> type) {
    if (locked.fallback().isEmpty()) {
      return locked.whenBusy() == WhenBusy.SKIP
          ? BusyAnswer.skipping(returnType)
          : BusyAnswer.throwing(method);
    }
    if (locked.whenBusy() != WhenBusy.THROW) {
      throw new IllegalArgumentException("it has a fallback and whenBusy; remove one of them");
    }
    return BusyAnswer.calling(locked.fallback(), method, returnType, type);
  }

  /** A proxy overrides a method of the class; what cannot be overridden would run unlocked. */
  private static void checkProxied(Method method, Class<?> type) {
    int modifiers = method.getModifiers();
    if (Modifier.isPrivate(modifiers)
        || Modifier.isStatic(modifiers)
        || Modifier.isFinal(modifiers)) {
      throw new IllegalArgumentException(
          "a proxy cannot override a private, static or final method; it would run without the"
              + " lock");
    }
    if (!Modifier.isPublic(modifiers)
        && !Modifier.isProtected(modifiers)
        && !isInOnePackage(method.getDeclaringClass(), type)
        && !isOpenedBelow(method, type)) {
      throw new IllegalArgumentException(
          "a proxy of %s cannot override a method that only package %s sees; it would run without"
                  .formatted(type.getName(), method.getDeclaringClass().getPackageName())
              + " the lock; make it public or protected");
    }
  }

  /**
   * Returns whether a subclass in the package of the method overrides it for all packages: that one
   * is read by itself, and a proxy overrides it.
   */
  private static boolean isOpenedBelow(Method method, Class<?> type) {
    Class<?> declaring = method.getDeclaringClass();
    MethodFilter opened =
        each ->
            (Modifier.isPublic(each.getModifiers()) || Modifier.isProtected(each.getModifiers()))
                && each.getDeclaringClass() != declaring
                && isInOnePackage(each.getDeclaringClass(), declaring)
                && each.getName().equals(method.getName())
                && Arrays.equals(each.getParameterTypes(), method.getParameterTypes());
    return !MethodIntrospector.selectMethods(type, opened).isEmpty();
  }

  private static boolean isInOnePackage(Class<?> one, Class<?> other) {
    return one.getPackageName().equals(other.getPackageName())
        && one.getClassLoader() == other.getClassLoader();
  }

  /** Spring calls these on the object itself, before and after there is a bean to go through. */
  private static void checkCalledThroughTheBean(Method method) {
    MergedAnnotations annotations =
        MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY); // of what it overrides too
    for (String callback : CALLBACKS) {
      if (annotations.isPresent(callback)) {
        throw new IllegalArgumentException(
            "Spring calls a method with @%s on the object itself, without the lock; let it call a"
                    .formatted(ClassUtils.getShortName(callback))
                + " locked method of another bean");
      }
    }
  }

  private Optional<Duration> lease(Locked locked) {
    Optional<Duration> lease = duration("lease", locked.lease());
    if (lease.isPresent()
        && (lease.get().compareTo(MIN_LEASE) < 0
            || lease.get().compareTo(LockOptions.MAX_LEASE) > 0)) {
      throw new IllegalArgumentException(
          "the lease '%s' is shorter than 1 ms, or longer than %d days"
              .formatted(lease.get(), LockOptions.MAX_LEASE.toDays()));
    }
    return lease;
  }

  private Optional<Duration> waitTime(Locked locked) {
    Optional<Duration> wait = duration("waitTime", locked.waitTime());
    if (wait.isPresent() && wait.get().isNegative()) {
      throw new IllegalArgumentException(
          "waitTime '%s' is negative; 0s makes one attempt".formatted(wait.get()));
    }
    return wait;
  }

  private Optional<Duration> duration(String what, String text) {
    String value = resolve(text);
    if (value.isEmpty()) {
      return Optional.empty();
    }
    if (BARE_NUMBER.matcher(value).matches()) {
      throw new IllegalArgumentException(
          "%s '%s' has no unit, and would be milliseconds; write %<ss or %<sms"
              .formatted(what, value));
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
