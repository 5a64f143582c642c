package io.mortise.it.arguments;

import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Calls methods and constructors with one argument that is null, and others that are not. Each has
 * to throw a {@code NullPointerException} whose message has the name of that parameter.
 */
final class NullArguments {
  private static final String PRODUCT = "io.mortise.";

  private static final Pattern NOT_FOR_USERS = Pattern.compile("\\.(internal|spi|composite)\\.");

  /** The JVM's own message: it names a variable where the null is used, and not the parameter. */
  private static final String OF_THE_JVM = "Cannot ";

  private final Map<Class<?>, Object> samples = new HashMap<>();

  NullArguments() {
    sample(boolean.class, false);
    sample(int.class, 1);
    sample(long.class, 1L);
    sample(String.class, "sample");
    sample(Class.class, String.class);
    sample(Duration.class, Duration.ofSeconds(1));
    sample(Instant.class, Instant.EPOCH);
    sample(OptionalLong.class, OptionalLong.empty());
    sample(Throwable.class, new IllegalStateException("sample"));
    sample(List.class, List.of());
    sample(Collection.class, List.of());
    sample(Iterable.class, List.of());
    sample(Map.class, Map.of());
  }

  /** Adds an argument of that type. Enums, arrays and interfaces without one are made up. */
  <T> NullArguments sample(Class<? super T> type, T value) {
    samples.put(type, value);
    return this;
  }

  /** Returns the parameters of constructors and static methods that are not refused as null. */
  List<String> acceptedByClass(Class<?> type) {
    List<String> accepted = new ArrayList<>();
    boolean thrown = Throwable.class.isAssignableFrom(type); // it must not hide its cause
    if (!Modifier.isAbstract(type.getModifiers()) && !thrown) {
      for (Constructor<?> constructor : type.getConstructors()) {
        accepted.addAll(accepted(constructor, null, Set.of(constructor)));
      }
    }
    for (Method method : type.getDeclaredMethods()) {
      boolean ofEnum = type.isEnum() && method.getName().equals("valueOf");
      if (isPublic(method) && Modifier.isStatic(method.getModifiers()) && !ofEnum) {
        accepted.addAll(accepted(method, null, Set.of(method)));
      }
    }
    return accepted;
  }

  /** Returns the same for all methods of the object that a user can call. */
  List<String> acceptedBy(Object target) {
    Map<String, Set<Executable>> methods = new HashMap<>();
    for (Class<?> type : typesOf(target.getClass())) {
      for (Method method : type.getDeclaredMethods()) {
        if (isPublic(method)
            && !Modifier.isStatic(method.getModifiers())
            && !method.getName().equals("equals")) {
          String signature = method.getName() + Arrays.toString(method.getParameterTypes());
          methods.computeIfAbsent(signature, key -> new HashSet<>()).add(method);
        }
      }
    }
    return methods.values().stream()
        .flatMap(same -> accepted(same.iterator().next(), target, same).stream())
        .toList();
  }

  /** The public types for users that it has; what only others declare is theirs. */
  private static Set<Class<?>> typesOf(@Nullable Class<?> type) {
    Set<Class<?>> types = new HashSet<>();
    if (type != null) {
      boolean ofTheProduct =
          type.getName().startsWith(PRODUCT) && !NOT_FOR_USERS.matcher(type.getName()).find();
      if (ofTheProduct && Modifier.isPublic(type.getModifiers())) {
        types.add(type);
      }
      types.addAll(typesOf(type.getSuperclass()));
      Stream.of(type.getInterfaces()).map(NullArguments::typesOf).forEach(types::addAll);
    }
    return types;
  }

  private static boolean isPublic(Method method) {
    return Modifier.isPublic(method.getModifiers()) && !method.isSynthetic();
  }

  private List<String> accepted(Executable call, @Nullable Object target, Set<Executable> same) {
    List<String> accepted = new ArrayList<>();
    for (int i = 0; i < call.getParameterCount(); i++) {
      int index = i;
      boolean nullable =
          same.stream()
              .anyMatch(
                  each ->
                      each.getAnnotatedParameterTypes()[index].isAnnotationPresent(Nullable.class));
      if (!call.getParameterTypes()[i].isPrimitive() && !nullable) {
        List<String> names =
            same.stream().map(each -> each.getParameters()[index].getName()).distinct().toList();
        String outcome = outcome(call, target, i);
        if (names.stream().noneMatch(name -> isRefusal(outcome, name))) {
          accepted.add(call + " " + names + ": " + outcome);
        }
      }
    }
    return accepted;
  }

  private static boolean isRefusal(String outcome, String name) {
    return Pattern.compile("NullPointerException: (?!" + OF_THE_JVM + ")(.*\\W)?" + name + "\\b.*")
        .matcher(outcome)
        .matches();
  }

  private String outcome(Executable call, @Nullable Object target, int nullAt) {
    Class<?>[] types = call.getParameterTypes();
    Object[] arguments =
        IntStream.range(0, types.length)
            .mapToObj(i -> i == nullAt ? null : argument(types[i]))
            .toArray();
    try {
      Object result =
          call instanceof Constructor<?> constructor
              ? constructor.newInstance(arguments)
              : ((Method) call).invoke(target, arguments);
      if (result instanceof AutoCloseable made && result != target) {
        made.close();
      }
      return "returns " + (result == null ? null : result.getClass());
    } catch (InvocationTargetException e) {
      return e.getCause().getClass().getSimpleName() + ": " + e.getCause().getMessage();
    } catch (Exception e) {
      throw new AssertionError(call.toString(), e);
    }
  }

  private Object argument(Class<?> type) {
    Object sample = samples.get(type);
    if (sample != null) {
      return sample;
    } else if (type.isEnum()) {
      return type.getEnumConstants()[0];
    } else if (type.isArray()) {
      Object array = Array.newInstance(type.getComponentType(), 1);
      Array.set(array, 0, argument(type.getComponentType()));
      return array;
    } else if (type.isInterface() && !type.isSealed()) {
      return Proxy.newProxyInstance(
          type.getClassLoader(), new Class<?>[] {type}, (proxy, method, none) -> null);
    }
    throw new AssertionError("no sample of " + type);
  }
}
