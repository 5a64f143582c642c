package io.mortise.connection.command;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntFunction;

/**
 * Divides what goes to one server into parts that a socket takes at once. Writing has no time
 * limit: a suspended server reads nothing, and a write of more than the buffers of both sockets
 * hold would block beyond every deadline.
 *
 * <p><b>Threads.</b> Stateless; any thread may call it.
 */
final class WriteBound {
  /** The maximum size of a part; a single element may be longer. */
  private static final int MAX_BYTES = 16 * 1024;

  private WriteBound() {}

  /** Returns the first part of the elements: as many as fit, and at least one. */
  static <T> List<T> first(List<T> elements, ToIntFunction<T> bytes) {
    int sum = 0;
    int end = 0;
    while (end < elements.size()) {
      sum += bytes.applyAsInt(elements.get(end));
      if (sum > MAX_BYTES && end > 0) {
        break;
      }
      end++;
    }
    return elements.subList(0, end);
  }

  /** Returns all parts, in the order of the elements. */
  static <T> List<List<T>> parts(List<T> elements, ToIntFunction<T> bytes) {
    List<List<T>> parts = new ArrayList<>();
    List<T> rest = elements;
    while (!rest.isEmpty()) {
      List<T> part = first(rest, bytes);
      parts.add(part);
      rest = rest.subList(part.size(), rest.size());
    }
    return parts;
  }
}
