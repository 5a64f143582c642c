package io.mortise.it.peers;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.module.ModuleDescriptor.Version;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A Redisson that the tests run beside Mortise. Each but the newest has a class loader that shares
 * nothing with the tests but the JDK, and the libraries of its time; its class path is in a file,
 * which the modules below {@code tests-integration/peers} write.
 */
public enum RedissonVersion {
  REDISSON_3_16(isolated("redisson-3.16")),
  REDISSON_3_24(isolated("redisson-3.24")),
  NEWEST(RedissonVersion.class.getClassLoader());

  @SuppressWarnings("ImmutableEnumChecker") // it only loads classes
  private final ClassLoader loader;

  RedissonVersion(ClassLoader loader) {
    this.loader = loader;
  }

  private static ClassLoader isolated(String module) {
    try {
      String classPath = Files.readString(Path.of("peers", module, "target", "class-path"));
      String[] entries = classPath.strip().split(File.pathSeparator, -1);
      URL[] jars = new URL[entries.length];
      for (int i = 0; i < jars.length; i++) {
        jars[i] = url(entries[i]);
      }
      return new URLClassLoader(jars, ClassLoader.getPlatformClassLoader());
    } catch (IOException e) {
      throw new UncheckedIOException("build the module peers/" + module, e);
    }
  }

  private static URL url(String entry) throws MalformedURLException {
    return Path.of(entry).toUri().toURL();
  }

  /** Returns the class of that name, of this version. */
  Class<?> load(String className) {
    try {
      return loader.loadClass(className);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException("Redisson " + this, e);
    }
  }

  boolean isBefore(String other) {
    return Version.parse(toString()).compareTo(Version.parse(other)) < 0;
  }

  /** Returns the version of the jar from which its classes come. */
  @Override
  public String toString() {
    URL jar = load("org.redisson.Redisson").getProtectionDomain().getCodeSource().getLocation();
    String file = Path.of(URI.create(jar.toString())).getFileName().toString();
    return file.replaceFirst("redisson-(.*)\\.jar", "$1");
  }
}
