package io.mortise.connection.command;

import io.mortise.connection.pool.SocketBuffers;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntFunction;

/**
 * Divides what goes to one server into parts that the {@link SocketBuffers} take at once. A longer
 * write would block while the server is suspended.
 *
 * <p><b>Threads.</b> Stateless; any thread may call it.
 */
final class WriteBound {
  private WriteBound() {}

  /** Returns the first part of the elements: as many as fit, and at least one, however long. */
  static <T> List<T> first(List<T> elements, ToIntFunction<T> bytes) {
    int sum = 0;
    int end = 0;
    while (end < elements.size()) {
      sum += bytes.applyAsInt(elements.get(end));
      if (sum > SocketBuffers.MIN_BYTES && end > 0) {
        break;
      }
      end++;
    }
    return elements.subList(0, end);
  }

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
