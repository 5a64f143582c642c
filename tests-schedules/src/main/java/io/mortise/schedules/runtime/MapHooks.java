package io.mortise.schedules.runtime;

import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * The updates of concurrent maps by rewritten code. Their functions run inside a monitor of the
 * map, so the thread keeps its turn meanwhile.
 *
 * <p><b>Threads.</b> Any thread may call every method.
 */
public final class MapHooks {
  private MapHooks() {}

  private static void begin() {
    Hooks.step();
    Hooks.beginAtomic();
  }

  public static Object compute(
      Map<Object, Object> map, Object key, BiFunction<Object, Object, Object> f) {
    begin();
    try {
      return map.compute(key, f);
    } finally {
      Hooks.endAtomic();
    }
  }

  public static Object computeIfPresent(
      Map<Object, Object> map, Object key, BiFunction<Object, Object, Object> f) {
    begin();
    try {
      return map.computeIfPresent(key, f);
    } finally {
      Hooks.endAtomic();
    }
  }

  public static Object computeIfAbsent(
      Map<Object, Object> map, Object key, Function<Object, Object> f) {
    begin();
    try {
      return map.computeIfAbsent(key, f);
    } finally {
      Hooks.endAtomic();
    }
  }

  public static Object merge(
      Map<Object, Object> map, Object key, Object value, BiFunction<Object, Object, Object> f) {
    begin();
    try {
      return map.merge(key, value, f);
    } finally {
      Hooks.endAtomic();
    }
  }
}
