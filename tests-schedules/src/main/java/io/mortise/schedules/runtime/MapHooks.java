package io.mortise.schedules.runtime;

import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The updates of concurrent maps by rewritten code. Their functions run inside a monitor of the
 * map, so the thread keeps its turn meanwhile.
 *
 * <p><b>Threads.</b> Any thread may call every method.
 */
public final class MapHooks {
  private MapHooks() {}

  private static Object atomically(Supplier<Object> update) {
    Hooks.step();
    Hooks.beginAtomic();
    try {
      return update.get();
    } finally {
      Hooks.endAtomic();
    }
  }

  public static Object compute(
      Map<Object, Object> map, Object key, BiFunction<Object, Object, Object> f) {
    return atomically(() -> map.compute(key, f));
  }

  public static Object computeIfPresent(
      Map<Object, Object> map, Object key, BiFunction<Object, Object, Object> f) {
    return atomically(() -> map.computeIfPresent(key, f));
  }

  public static Object computeIfAbsent(
      Map<Object, Object> map, Object key, Function<Object, Object> f) {
    return atomically(() -> map.computeIfAbsent(key, f));
  }

  public static Object merge(
      Map<Object, Object> map, Object key, Object value, BiFunction<Object, Object, Object> f) {
    return atomically(() -> map.merge(key, value, f));
  }
}
