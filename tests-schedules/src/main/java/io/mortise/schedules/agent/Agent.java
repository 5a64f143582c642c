package io.mortise.schedules.agent;

import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** Rewrites the classes of a test JVM, those that are loaded already and those that will be. */
public final class Agent {
  private Agent() {}

  /** Called by the JVM before {@code main}. */
  public static void premain(String options, Instrumentation jvm)
      throws UnmodifiableClassException {
    ClassRewriter rewriter = new ClassRewriter();
    jvm.addTransformer(rewriter, true);
    List<Class<?>> loaded = new ArrayList<>(List.of(Thread.class, LockSupport.class));
    for (Class<?> each : jvm.getAllLoadedClasses()) {
      if (jvm.isModifiableClass(each)
          && ClassRewriter.isConcurrent(each.getName().replace('.', '/'))
          && !loaded.contains(each)) {
        loaded.add(each);
      }
    }
    jvm.retransformClasses(loaded.toArray(Class<?>[]::new));
  }
}
