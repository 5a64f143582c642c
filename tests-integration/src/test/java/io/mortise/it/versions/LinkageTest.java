package io.mortise.it.versions;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.topology.Topology;
import io.mortise.core.LockClient;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.fencing.FencedStore;
import io.mortise.it.versions.References.Reference;
import io.mortise.micrometer.LockMetrics;
import io.mortise.multilock.MultiLock;
import io.mortise.redlock.RedLock;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.RedisServer;
import java.io.File;
import java.io.IOException;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.RedisClient;

/**
 * The modules, which are compiled against the newest libraries, link with the lowest supported
 * ones: these have every class, field and method that the modules refer to, with the same
 * signature, also where no test runs.
 */
class LinkageTest {
  /** The folder into which the build puts the lowest versions. */
  private static final Path LOWEST = Path.of("target", "lowest").toAbsolutePath();

  /** The packages of the libraries of which an application may choose the version. */
  private static final List<String> LIBRARIES =
      List.of(
          "redis.clients.jedis.",
          "org.apache.commons.pool2.",
          "org.slf4j.",
          "com.google.common.",
          "io.micrometer.core.",
          "io.micrometer.observation.",
          "io.micrometer.common.",
          "org.junit.jupiter.api.");

  private static final List<Class<?>> MODULES =
      List.of(
          Topology.class,
          LockClient.class,
          RedisFairLock.class,
          RedisReadWriteLock.class,
          MultiLock.class,
          RedLock.class,
          FencedStore.class,
          LockMetrics.class,
          RedisServer.class);

  private final TreeSet<String> missing = new TreeSet<>();
  private final Map<String, Integer> seen = new HashMap<>();

  @Test
  void theModulesLinkWithTheLowestVersions() throws Exception {
    try (URLClassLoader lowest = lowestFirst()) {
      for (Class<?> module : MODULES) {
        Map<String, byte[]> files = classFiles(Path.of(location(module)));
        assertTrue(files.size() > 0, () -> "no classes in the module of " + module);
        for (Map.Entry<String, byte[]> file : files.entrySet()) {
          References.of(file.getValue()).forEach(reference -> check(lowest, reference));
          checkImplemented(lowest, file.getKey());
        }
      }
      // Jedis uses the pool too, and was compiled against a newer one.
      Path jedis = Path.of(location(lowest.loadClass(RedisClient.class.getName())));
      for (byte[] file : classFiles(jedis).values()) {
        References.of(file).stream()
            .filter(reference -> !reference.owner().startsWith(LIBRARIES.get(0)))
            .forEach(reference -> check(lowest, reference));
      }
    }
    LIBRARIES.forEach(library -> assertTrue(seen.getOrDefault(library, 0) > 0, library));
    assertEquals(new TreeSet<>(), missing, "not in the lowest versions");
  }

  private void check(ClassLoader lowest, Reference reference) {
    for (String library : LIBRARIES) {
      if (reference.owner().startsWith(library)) {
        seen.merge(library, 1, Integer::sum);
        try {
          Class<?> owner = Class.forName(reference.owner(), false, lowest);
          if (!isLowest(owner) || !has(owner, reference)) {
            missing.add(reference.toString());
          }
        } catch (ClassNotFoundException e) {
          missing.add(reference.owner());
        }
      }
    }
  }

  /** The class path has the newest libraries after the lowest. */
  private static boolean isLowest(Class<?> type) {
    return Path.of(location(type)).startsWith(LOWEST);
  }

  private static boolean has(Class<?> type, Reference wanted) {
    return members(type).anyMatch(wanted.member()::equals)
        || supertypes(type).anyMatch(supertype -> has(supertype, wanted));
  }

  /** Returns the names of the fields, constructors and methods, each with its descriptor. */
  private static Stream<String> members(Class<?> type) {
    return Stream.of(
            Arrays.stream(type.getDeclaredFields())
                .map(field -> field.getName() + field.getType().descriptorString()),
            Arrays.stream(type.getDeclaredConstructors())
                .map(it -> "<init>" + descriptor(void.class, it.getParameterTypes())),
            Arrays.stream(type.getDeclaredMethods())
                .map(it -> it.getName() + descriptor(it.getReturnType(), it.getParameterTypes())))
        .flatMap(each -> each);
  }

  private static Stream<Class<?>> supertypes(Class<?> type) {
    Class<?> above = type.isInterface() ? Object.class : type.getSuperclass();
    return Stream.concat(Stream.ofNullable(above), Arrays.stream(type.getInterfaces()));
  }

  private static String descriptor(Class<?> result, Class<?>[] parameters) {
    return MethodType.methodType(result, parameters).descriptorString();
  }

  /** Finds abstract methods of the lowest library that a class of ours does not implement. */
  private void checkImplemented(ClassLoader lowest, String name) throws Exception {
    Class<?> type = Class.forName(name, false, lowest);
    if (!Modifier.isAbstract(type.getModifiers())) {
      for (Method method : type.getMethods()) {
        if (Modifier.isAbstract(method.getModifiers())) {
          missing.add("the implementation of %s in %s".formatted(method, name));
        }
      }
    }
  }

  private static URLClassLoader lowestFirst() throws IOException {
    List<URL> path = new ArrayList<>();
    try (Stream<Path> jars = Files.list(LOWEST)) {
      for (Path jar : jars.toList()) {
        path.add(jar.toUri().toURL());
      }
    }
    assertEquals(LIBRARIES.size(), path.size(), () -> LOWEST + " has " + path);
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      path.add(url(entry));
    }
    return new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
  }

  private static URL url(String entry) throws MalformedURLException {
    return Path.of(entry).toUri().toURL();
  }

  private static URI location(Class<?> type) {
    try {
      return type.getProtectionDomain().getCodeSource().getLocation().toURI();
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns the class files of a folder or jar, by the names of their classes. */
  private static Map<String, byte[]> classFiles(Path place) throws IOException {
    if (Files.isDirectory(place)) {
      return classFilesBelow(place);
    }
    try (FileSystem jar = FileSystems.newFileSystem(place)) {
      return classFilesBelow(jar.getPath("/"));
    }
  }

  private static Map<String, byte[]> classFilesBelow(Path root) throws IOException {
    Map<String, byte[]> files = new HashMap<>();
    try (Stream<Path> all = Files.walk(root)) {
      for (Path file : all.filter(it -> it.toString().endsWith(".class")).toList()) {
        String name = root.relativize(file).toString().replaceFirst("\\.class$", "");
        if (!name.endsWith("-info")) {
          files.put(name.replace('/', '.').replace('\\', '.'), Files.readAllBytes(file));
        }
      }
    }
    return files;
  }
}
