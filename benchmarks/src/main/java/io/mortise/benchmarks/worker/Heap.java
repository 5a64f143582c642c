package io.mortise.benchmarks.worker;

import java.lang.management.ManagementFactory;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * The live objects on the heap, after a full collection.
 *
 * @param bytes of all objects
 * @param stackBytes of the stacks of parked virtual threads among them
 */
record Heap(long bytes, long stackBytes) {
  private static final String STACK_CLASS = "jdk.internal.vm.StackChunk";
  private static final Pattern TOTAL = Pattern.compile("(?m)^Total\\s+\\d+\\s+(\\d+)");
  private static final Pattern STACKS =
      Pattern.compile("(?m)^\\s*\\d+:\\s+\\d+\\s+(\\d+)\\s+" + Pattern.quote(STACK_CLASS));

  /** Counts, after a collection; all threads stand still meanwhile. */
  static Heap count() {
    try {
      MBeanServer server = ManagementFactory.getPlatformMBeanServer();
      String classes =
          (String)
              server.invoke(
                  new ObjectName("com.sun.management:type=DiagnosticCommand"),
                  "gcClassHistogram",
                  new Object[] {new String[0]},
                  new String[] {String[].class.getName()});
      return read(classes);
    } catch (JMException e) {
      throw new IllegalStateException("this JVM does not count its objects", e);
    }
  }

  /** Reads a class histogram. */
  static Heap read(String classes) {
    return new Heap(number(TOTAL, classes), number(STACKS, classes));
  }

  private static long number(Pattern pattern, String classes) {
    Matcher matcher = pattern.matcher(classes);
    return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
  }
}
