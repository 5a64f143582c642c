package io.mortise.spring.boot.locked;

import io.mortise.spring.boot.Locked;
import io.mortise.spring.boot.WhenBusy;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.GenericTypeResolver;

/**
 * Reads the annotation of a method, and refuses one that cannot be locked as it says.
 *
 * <p><b>Threads.</b> Immutable; any thread may call any method.
 */
final class LockedMethodReader {
  private static final Duration MIN_LEASE = Duration.ofMillis(1);

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
    checkProxied(method);
    Class<?> returnType = GenericTypeResolver.resolveReturnType(method, type);
    DeferredWork.checkDeclared(method, returnType);
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
        returnType,
        LockNameTemplate.parse(resolve(locked.name()), method),
        locked.type(),
        duration("waitTime", locked.waitTime()),
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
