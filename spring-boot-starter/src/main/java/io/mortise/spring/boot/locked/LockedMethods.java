package io.mortise.spring.boot.locked;

import io.mortise.spring.boot.Locked;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.MethodIntrospector.MetadataLookup;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.Schedules;
import org.springframework.util.ClassUtils;
import org.springframework.util.ConcurrentReferenceHashMap;
import org.springframework.util.ReflectionUtils.MethodFilter;

/**
 * The methods with {@link Locked} of each class. A class is read and checked once, when its bean is
 * made.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 */
public final class LockedMethods {
  private final Map<Class<?>, Map<Method, LockedMethod>> classes =
      new ConcurrentReferenceHashMap<>();
  private final LockedMethodReader reader;

  /**
   * Creates the cache.
   *
   * @param placeholders replaces <code>${…}</code> in a text
   */
  public LockedMethods(UnaryOperator<@Nullable String> placeholders) {
    this.reader = new LockedMethodReader(placeholders);
  }

  /** Returns whether a class has such a method, whatever it says: checks nothing. */
  public static boolean isAnnotated(Class<?> type) {
    MethodFilter annotated = method -> AnnotatedElementUtils.hasAnnotation(method, Locked.class);
    return AnnotationUtils.isCandidateClass(type, Locked.class)
        && !MethodIntrospector.selectMethods(ClassUtils.getUserClass(type), annotated).isEmpty();
  }

  /**
   * Returns whether a class has such a method.
   *
   * @throws IllegalStateException if one of them cannot be locked as it says
   */
  public boolean isIn(Class<?> type) {
    return AnnotationUtils.isCandidateClass(type, Locked.class) && !in(type).isEmpty();
  }

  /**
   * Returns the methods of a class that {@code @Scheduled} starts and whose {@link Locked} gives no
   * wait, as messages name them: each node runs them, one after the other.
   */
  public List<String> scheduledWithoutWait(Class<?> type) {
    if (!isIn(type)) {
      return List.of();
    }
    return in(type).entrySet().stream()
        .filter(each -> each.getValue().waitTime().isEmpty() && isScheduled(each.getKey()))
        .map(each -> LockNameTemplate.describe(each.getKey()))
        .sorted()
        .toList();
  }

  /** As Spring finds them, also in an annotation of the application, and in {@code @Schedules}. */
  private static boolean isScheduled(Method method) {
    return !AnnotatedElementUtils.getMergedRepeatableAnnotations(
            method, Scheduled.class, Schedules.class)
        .isEmpty();
  }

  /** Returns what the method says; empty if it has no annotation. */
  Optional<LockedMethod> find(Method method, Class<?> type) {
    Map<Method, LockedMethod> locked = in(type);
    // a call through a generic type reaches a bridge, and the annotation is on what it calls
    LockedMethod found = locked.get(AopUtils.getMostSpecificMethod(method, type));
    // a class that a proxy made at run time has the annotations only in its interfaces
    return Optional.ofNullable(found == null ? locked.get(method) : found);
  }

  /** A method that carries two annotations of the application would have one of their locks. */
  private static void refuseSeveral(Method method) {
    if (MergedAnnotations.from(method).stream(Locked.class).count() > 1) {
      throw new IllegalStateException(
          "%s has @Locked more than once, by annotations that carry it; a method has one lock: take"
                  .formatted(LockNameTemplate.describe(method))
              + " the others in the method, as by a MultiLock");
    }
  }

  private Map<Method, LockedMethod> in(Class<?> type) {
    Class<?> userClass = ClassUtils.getUserClass(type);
    Map<Method, LockedMethod> found = classes.get(userClass);
    if (found == null) {
      MetadataLookup<@Nullable LockedMethod> lookup =
          method -> {
            refuseSeveral(method);
            Locked locked = AnnotatedElementUtils.findMergedAnnotation(method, Locked.class);
            return locked == null ? null : reader.read(locked, method, userClass);
          };
      found = MethodIntrospector.selectMethods(userClass, lookup);
      classes.put(userClass, found);
    }
    return found;
  }
}
