package io.mortise.it.support;

import java.util.Arrays;

/** Finds methods in stack traces. */
public final class StackTraces {
  private StackTraces() {}

  /** Returns whether a method of exactly that class is on the stack. */
  public static boolean contain(StackTraceElement[] stack, Class<?> type) {
    return Arrays.stream(stack).anyMatch(frame -> frame.getClassName().equals(type.getName()));
  }

  /**
   * Returns whether that method is on the stack.
   *
   * @throws IllegalArgumentException if the class has no such method
   */
  public static boolean contain(StackTraceElement[] stack, Class<?> type, String method) {
    if (Arrays.stream(type.getDeclaredMethods()).noneMatch(it -> it.getName().equals(method))) {
      throw new IllegalArgumentException("%s has no method %s".formatted(type, method));
    }
    return Arrays.stream(stack)
        .anyMatch(
            frame ->
                frame.getClassName().equals(type.getName())
                    && frame.getMethodName().equals(method));
  }
}
