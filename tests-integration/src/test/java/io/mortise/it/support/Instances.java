package io.mortise.it.support;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.stream.Collectors;
import javax.management.JMException;
import javax.management.ObjectName;

/** What is on the heap of this JVM after a full collection. */
public final class Instances {
  private Instances() {}

  /** How many objects there are of each class whose name starts with the prefix. */
  public static Map<String, Long> of(String prefix) {
    try {
      Object histogram =
          ManagementFactory.getPlatformMBeanServer()
              .invoke(
                  new ObjectName("com.sun.management:type=DiagnosticCommand"),
                  "gcClassHistogram",
                  new Object[] {new String[0]},
                  new String[] {String[].class.getName()});
      // number: instances bytes class (module)
      return histogram
          .toString()
          .lines()
          .map(line -> line.trim().split("\\s+", -1))
          .filter(words -> words.length >= 4 && words[3].startsWith(prefix))
          .collect(Collectors.toMap(words -> words[3], words -> Long.parseLong(words[1])));
    } catch (JMException e) {
      throw new IllegalStateException("no histogram of the heap", e);
    }
  }
}
