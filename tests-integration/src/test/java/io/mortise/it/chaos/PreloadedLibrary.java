package io.mortise.it.chaos;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A library that a process loads before the C library (LD_PRELOAD), so that it replaces functions
 * of it. The library reads a number from a file, by which a test controls it while the process
 * runs. A C compiler makes it from a source in the test resources; where there is none, the faults
 * that need it are left out.
 */
enum PreloadedLibrary {
  /** Shifts the wall clock, by the number of microseconds. */
  CLOCK("clock.c"),
  /** Makes look-ups of host names wait, unless the number is 0. */
  LOOK_UP("lookup.c");

  private final @Nullable String file;

  PreloadedLibrary(String source) {
    file = compile(source).orElse(null);
  }

  /** The number that a library reads. */
  record Control(Path file) {
    /** Creates the number 0 in a file of that directory. */
    static Control in(Path directory) throws IOException {
      Control control = new Control(Files.createTempFile(directory, "number", ""));
      Files.write(control.file, new byte[Long.BYTES]);
      return control;
    }

    void set(long value) throws IOException {
      byte[] bytes =
          ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder()).putLong(value).array();
      // In place, without truncation: the processes have mapped the file.
      Files.write(file, bytes, StandardOpenOption.WRITE);
    }
  }

  /** Returns whether this machine can load it. */
  boolean isAvailable() {
    return file != null;
  }

  /** Sets the environment variables that make a process load it. */
  void preload(Control control, BiConsumer<String, String> environment) {
    if (file == null) {
      throw new IllegalStateException(this + " is not available");
    }
    environment.accept("LD_PRELOAD", file);
    environment.accept("NUMBER_FILE", control.file().toString());
  }

  private static Optional<String> compile(String source) {
    if (!System.getProperty("os.name").equals("Linux")) {
      return Optional.empty();
    }
    try {
      Path directory = Files.createTempDirectory("mortise-preloaded-");
      directory.toFile().deleteOnExit();
      for (String name : new String[] {source, "number.h"}) {
        try (InputStream code = PreloadedLibrary.class.getResourceAsStream(name)) {
          Files.copy(Objects.requireNonNull(code, name), directory.resolve(name));
        }
      }
      Path library = directory.resolve(source.replace(".c", ".so"));
      Process compiler =
          new ProcessBuilder(
                  "cc", "-shared", "-fPIC", "-O2", "-o", library.toString(), source, "-ldl")
              .directory(directory.toFile())
              .redirectErrorStream(true)
              .start();
      String output = new String(compiler.getInputStream().readAllBytes(), UTF_8);
      if (compiler.waitFor() != 0) {
        throw new IllegalStateException(source + " does not compile: " + output);
      }
      try (Stream<Path> files = Files.list(directory)) {
        files.forEach(each -> each.toFile().deleteOnExit());
      }
      return Optional.of(library.toString());
    } catch (IOException e) { // there is no compiler
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }
}
