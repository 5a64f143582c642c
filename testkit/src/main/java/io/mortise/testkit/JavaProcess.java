package io.mortise.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A child JVM that runs a main class, and that a test kills or suspends. It runs on this JVM's Java
 * and class path, and is gone when this object is closed or this JVM ends, also by {@code kill -9}.
 *
 * <p>The two exchange lines. The child's standard output and error are collected here; {@link
 * #awaitLine} waits for the next line with a prefix, and {@link #send} writes a line to the child's
 * standard input. The child must flush ({@code System.out.println} does).
 *
 * <pre>{@code
 * try (JavaProcess holder = JavaProcess.start(HoldForEver.class, server.uri(), "order:42")) {
 *   holder.awaitLine("held", Duration.ofSeconds(10));
 *   holder.kill();
 *   ...
 * }
 * }</pre>
 *
 * <p><b>Threads.</b> Any thread may call all methods; a daemon thread reads the output.
 */
public final class JavaProcess implements AutoCloseable {
  private final OsProcess process;
  private final String mainClass;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final List<String> lines = new ArrayList<>(); // guarded by lock
  private int next; // the first line that no awaitLine has passed, guarded by lock
  private boolean ended; // no more lines will come, guarded by lock

  private JavaProcess(String mainClass, OsProcess process) {
    this.mainClass = mainClass;
    this.process = process;
    Thread reader = new Thread(this::read, "output-of-" + process.pid());
    reader.setDaemon(true);
    reader.start();
  }

  /** Starts {@code main} with these arguments. */
  public static JavaProcess start(Class<?> main, String... arguments) {
    return builder(main).arguments(arguments).start();
  }

  /** A builder, for options of the JVM and environment variables. */
  public static Builder builder(Class<?> main) {
    return new Builder(main);
  }

  /**
   * Waits for the next line that starts with the prefix. Lines before it are passed over: a later
   * call looks only at what follows.
   *
   * @return the line, whole
   * @throws IllegalStateException if the child ends without such a line, or none comes in time; the
   *     message has its output
   * @throws InterruptedException if the calling thread is interrupted while it waits
   */
  public String awaitLine(String prefix, Duration timeout) throws InterruptedException {
    Objects.requireNonNull(prefix, "prefix");
    long left = Objects.requireNonNull(timeout, "timeout").toNanos();
    lock.lockInterruptibly();
    try {
      while (true) {
        while (next < lines.size()) {
          String line = lines.get(next++);
          if (line.startsWith(prefix)) {
            return line;
          }
        }
        if (ended) {
          throw complaint("ended without a line '" + prefix + "'");
        }
        if (left <= 0) {
          throw complaint("printed no line '%s' in %d ms".formatted(prefix, timeout.toMillis()));
        }
        left = changed.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Writes a line to the child's standard input. */
  public void send(String line) {
    Objects.requireNonNull(line, "line");
    try {
      process.input().write((line + "\n").getBytes(UTF_8));
      process.input().flush();
    } catch (IOException e) {
      throw new UncheckedIOException(complaint("does not read its input").getMessage(), e);
    }
  }

  /** All lines so far, of standard output and error, joined by line feeds. */
  public String output() {
    lock.lock();
    try {
      return String.join("\n", lines);
    } finally {
      lock.unlock();
    }
  }

  /** The process id. */
  public long pid() {
    return process.pid();
  }

  /** Whether the process exists; also true while it is suspended. */
  public boolean isRunning() {
    return process.isRunning();
  }

  /** Ends it as a crash does ({@code kill -9}). Returns when it is gone. */
  public void kill() {
    process.kill();
  }

  /** Suspends it (SIGSTOP), as a long garbage collection or a frozen machine does. */
  public void pause() {
    process.pause();
  }

  /** Lets it go on (SIGCONT). */
  public void resume() {
    process.resume();
  }

  /**
   * Waits for the end of the child, and for its last line.
   *
   * @return its exit code; 137 after {@link #kill()}
   * @throws IllegalStateException if it still runs after that time, or a process that it started
   *     keeps its output open; the message has its output
   */
  public int awaitExit(Duration timeout) {
    Objects.requireNonNull(timeout, "timeout");
    long deadline = System.nanoTime() + timeout.toNanos();
    int code;
    try {
      code = process.awaitExit(timeout);
    } catch (IllegalStateException e) {
      throw complaint("still runs after %d ms".formatted(timeout.toMillis()));
    }
    if (!endsBy(deadline)) {
      throw complaint(
          "has ended, but another process keeps its output open after %d ms"
              .formatted(timeout.toMillis()));
    }
    return code;
  }

  /** Waits for the end of the output. */
  private boolean endsBy(long deadline) {
    lock.lock();
    try {
      while (!ended && deadline - System.nanoTime() > 0) {
        var unused =
            Uninterruptibles.awaitUninterruptibly(
                changed, deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
      }
      return ended;
    } finally {
      lock.unlock();
    }
  }

  /** Kills it if it still runs, also if it is suspended. */
  @Override
  public void close() {
    process.kill();
  }

  OsProcess osProcess() {
    return process;
  }

  @Override
  public String toString() {
    return mainClass + " in process " + pid() + (isRunning() ? "" : " (ended)");
  }

  private IllegalStateException complaint(String what) {
    return new IllegalStateException(
        "%s in process %d %s; its output:%n%s".formatted(mainClass, pid(), what, output()));
  }

  private void read() {
    try (BufferedReader in = new BufferedReader(new InputStreamReader(process.output(), UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        tell(line, false);
      }
    } catch (IOException killed) {
      tell("(output broke off: " + killed.getMessage() + ")", false);
    } finally {
      tell("", true);
    }
  }

  private void tell(String line, boolean end) {
    lock.lock();
    try {
      if (end) {
        ended = true;
      } else {
        lines.add(line);
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** The options of a child JVM. */
  public static final class Builder {
    private final Class<?> main;
    private final List<String> jvmOptions = new ArrayList<>();
    private final List<String> arguments = new ArrayList<>();
    private final Map<String, String> environment = new HashMap<>();

    private Builder(Class<?> main) {
      this.main = Objects.requireNonNull(main, "main");
    }

    /** Adds options of the JVM, such as {@code -Xmx64m} or {@code -Dname=value}. */
    public Builder jvmOptions(String... options) {
      jvmOptions.addAll(List.of(Objects.requireNonNull(options, "options")));
      return this;
    }

    /** Adds arguments of the main method. */
    public Builder arguments(String... arguments) {
      this.arguments.addAll(List.of(Objects.requireNonNull(arguments, "arguments")));
      return this;
    }

    /** Sets an environment variable; the others are those of this process. */
    public Builder environment(String name, String value) {
      environment.put(Objects.requireNonNull(name, "name"), Objects.requireNonNull(value, "value"));
      return this;
    }

    /** Starts the child. */
    public JavaProcess start() {
      List<String> line = new ArrayList<>();
      line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      line.addAll(jvmOptions);
      line.addAll(List.of("-cp", classPath(), main.getName()));
      line.addAll(arguments);
      ProcessBuilder builder = new ProcessBuilder(line).redirectErrorStream(true);
      builder.environment().putAll(environment);
      try {
        return new JavaProcess(main.getName(), OsProcess.start(builder));
      } catch (IOException e) {
        throw new UncheckedIOException("'%s' cannot be run".formatted(line.get(0)), e);
      }
    }

    /** Modules go there too: the child has everything on its class path. */
    private static String classPath() {
      return Stream.of("java.class.path", "jdk.module.path")
          .map(property -> System.getProperty(property, ""))
          .filter(path -> !path.isEmpty())
          .collect(Collectors.joining(File.pathSeparator));
    }
  }
}
