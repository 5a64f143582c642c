package io.mortise.cli.run;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.function.Consumer;

/**
 * Handles signals that this process receives, in place of the JVM, which would exit.
 *
 * <p>The JDK has one interface for that, {@code sun.misc.Signal} in the module {@code
 * jdk.unsupported}. It is used by reflection, because the compiler warns of each use by name, and
 * no annotation turns that off. A shutdown hook would not do: it is not told which signal arrived,
 * and the JVM ends after it, also if the command goes on after a HUP.
 *
 * <p>A signal that was ignored when this process began stays ignored, as {@code nohup} expects.
 *
 * <p><b>Threads.</b> The handler runs on a thread of the JVM, another one for each signal.
 */
final class SignalHandlers {
  private SignalHandlers() {}

  /**
   * Handles this signal from now on, until the process ends.
   *
   * @throws IllegalStateException if the JVM does not allow it, as with {@code -Xrs}
   */
  static void handle(ProcessSignal signal, Consumer<ProcessSignal> handler) {
    try {
      Class<?> signalType = Class.forName("sun.misc.Signal");
      Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
      Object proxy =
          Proxy.newProxyInstance(
              SignalHandlers.class.getClassLoader(),
              new Class<?>[] {handlerType},
              calls(signal, handler));
      signalType
          .getMethod("handle", signalType, handlerType)
          .invoke(null, signalType.getConstructor(String.class).newInstance(signal.name()), proxy);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "SIG%s cannot be handled; start Java without -Xrs".formatted(signal), e);
    }
  }

  private static InvocationHandler calls(ProcessSignal signal, Consumer<ProcessSignal> handler) {
    return (proxy, method, arguments) ->
        switch (method.getName()) {
          case "handle" -> {
            handler.accept(signal);
            yield null;
          }
          case "equals" -> proxy == arguments[0];
          case "hashCode" -> System.identityHashCode(proxy);
          default -> "handler of SIG" + signal;
        };
  }
}
