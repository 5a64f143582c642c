package io.mortise.it.chaos;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The classes of some libraries, which are initialized before the heap is full. A class whose
 * initialization runs out of memory cannot be used any more for as long as the JVM lives; that is
 * so for every library, and a program that has worked for a while has its classes.
 *
 * <p><b>Threads.</b> For one thread.
 */
final class InitializedClasses {
  private final List<Class<?>> samples;
  private boolean initialized;

  /** Of the libraries to which these classes belong, each in a directory or a jar. */
  InitializedClasses(Class<?>... samples) {
    this.samples = List.of(samples);
  }

  /** Initializes them, unless it was done before. */
  void ensure() throws IOException {
    if (initialized) {
      return;
    }
    for (Class<?> sample : samples) {
      URI place = placeOf(sample);
      if (Files.isDirectory(Path.of(place))) {
        initializeAll(Path.of(place));
      } else {
        try (FileSystem jar = FileSystems.newFileSystem(Path.of(place))) {
          initializeAll(jar.getPath("/"));
        }
      }
    }
    initialized = true;
  }

  private static URI placeOf(Class<?> sample) {
    try {
      return sample.getProtectionDomain().getCodeSource().getLocation().toURI();
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void initializeAll(Path root) throws IOException {
    try (Stream<Path> files = Files.walk(root)) {
      files
          .map(file -> root.relativize(file).toString())
          .filter(file -> file.endsWith(".class") && !file.endsWith("-info.class"))
          .filter(file -> !file.startsWith("META-INF"))
          .map(file -> file.replace(".class", "").replaceAll("[/\\\\]", "."))
          .forEach(InitializedClasses::initialize);
    }
  }

  private static void initialize(String name) {
    try {
      Class.forName(name);
    } catch (ClassNotFoundException | LinkageError needsAnotherLibrary) {
      System.out.println("not initialized: " + needsAnotherLibrary);
    }
  }
}
