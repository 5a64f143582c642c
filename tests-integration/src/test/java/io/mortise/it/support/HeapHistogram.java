package io.mortise.it.support;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import javax.management.JMException;
import javax.management.ObjectName;

/** The number of objects of each class on the heap of this JVM after a full collection. */
public final class HeapHistogram {
  private final Map<String, Long> byClass;

  private HeapHistogram(Map<String, Long> byClass) {
    this.byClass = byClass;
  }

  /** Collects garbage, and counts the objects that are left. */
  public static HeapHistogram count() {
    try {
      Object histogram =
          ManagementFactory.getPlatformMBeanServer()
              .invoke(
                  new ObjectName("com.sun.management:type=DiagnosticCommand"),
                  "gcClassHistogram",
                  new Object[] {new String[0]},
                  new String[] {String[].class.getName()});
      // number: instances bytes class (module)
      return new HeapHistogram(
          histogram
              .toString()
              .lines()
              .map(line -> line.trim().split("\\s+", -1))
              .filter(words -> words.length >= 4 && words[0].endsWith(":"))
              .collect(
                  Collectors.toMap(
                      words -> words[3], words -> Long.parseLong(words[1]), Long::sum)));
    } catch (JMException e) {
      throw new IllegalStateException("no histogram of the heap", e);
    }
  }

  /** Returns the number of objects of exactly that class. */
  public long of(Class<?> type) {
    return byClass.getOrDefault(type.getName(), 0L);
  }

  /** Returns the number of objects of all classes whose names match. */
  public long ofClasses(Predicate<String> name) {
    return byClass.entrySet().stream()
        .filter(entry -> name.test(entry.getKey()))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  /** Returns the number of objects of each class in the package of that one. */
  public Map<String, Long> ofPackage(Class<?> type) {
    String prefix = type.getPackageName() + ".";
    return byClass.entrySet().stream()
        .filter(entry -> entry.getKey().startsWith(prefix))
        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
  }
}
