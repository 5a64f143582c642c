package io.mortise.testkit;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import redis.embedded.core.ExecutableProvider;
import redis.embedded.model.Architecture;
import redis.embedded.model.OS;
import redis.embedded.model.OsArchitecture;

/**
 * Finds a redis-server to run: the one asked for, an installed one, or that of embedded-redis.
 *
 * <p><b>Threads.</b> Any thread; a lock and an atomic rename order the unpacking.
 */
final class RedisBinary {
  static final String PROPERTY = "mortise.redis-server";
  static final String ENVIRONMENT = "MORTISE_REDIS_SERVER";

  /** Instead of a path: the binary of embedded-redis, also where another is installed. */
  static final String EMBEDDED = "embedded";

  private static final ReentrantLock UNPACKING = new ReentrantLock();
  private static volatile @Nullable Path unpacked;

  private RedisBinary() {}

  static Path find(@Nullable Path asked) {
    if (asked != null) {
      return executable(asked, "binary(...)");
    }
    String property = System.getProperty(PROPERTY);
    if (property != null && !property.isBlank()) {
      return named(property, "system property " + PROPERTY);
    }
    String variable = System.getenv(ENVIRONMENT);
    if (variable != null && !variable.isBlank()) {
      return named(variable, "environment variable " + ENVIRONMENT);
    }
    return onPath(System.getenv("PATH")).orElseGet(RedisBinary::embedded);
  }

  private static Path named(String name, String from) {
    return name.equals(EMBEDDED) ? embedded() : executable(Path.of(name), from);
  }

  private static Path executable(Path path, String from) {
    if (!Files.isRegularFile(path) || !Files.isExecutable(path)) {
      throw new IllegalArgumentException(
          "no redis-server: '%s' (from %s) is not an executable file".formatted(path, from));
    }
    return path.toAbsolutePath();
  }

  static Optional<Path> onPath(@Nullable String path) {
    return path == null
        ? Optional.empty()
        : Stream.of(path.split(File.pathSeparator, -1))
            .filter(directory -> !directory.isEmpty())
            .map(directory -> Path.of(directory, "redis-server"))
            .filter(file -> Files.isRegularFile(file) && Files.isExecutable(file))
            .findFirst();
  }

  /** The binary inside embedded-redis, unpacked once for a user and machine. */
  static Path embedded() {
    UNPACKING.lock();
    try {
      Path known = unpacked;
      if (known != null && Files.isExecutable(known)) {
        return known;
      }
      Path fresh =
          unpack(resourceName(System.getProperty("os.name"), System.getProperty("os.arch")));
      unpacked = fresh;
      return fresh;
    } catch (IOException e) {
      throw new UncheckedIOException("the redis-server of embedded-redis cannot be unpacked", e);
    } finally {
      UNPACKING.unlock();
    }
  }

  /**
   * The resource for a machine, as the JVM describes it. The detection of embedded-redis runs
   * {@code uname}, which is not on every PATH.
   *
   * @param os the system property {@code os.name}
   * @param arch the system property {@code os.arch}
   */
  static String resourceName(String os, String arch) {
    OsArchitecture machine = known(os, arch);
    String name = machine == null ? null : ExecutableProvider.newProvidedVersionsMap().get(machine);
    if (name == null) {
      throw new IllegalStateException(
          ("no redis-server: embedded-redis has none for %s on %s; install Redis, or set %s to its"
                  + " redis-server")
              .formatted(os, arch, ENVIRONMENT));
    }
    return name.startsWith("/") ? name.substring(1) : name;
  }

  private static @Nullable OsArchitecture known(String os, String arch) {
    OS system =
        os.equals("Linux")
            ? OS.UNIX
            : os.equals("Mac OS X") ? OS.MAC_OS_X : os.startsWith("Windows") ? OS.WINDOWS : null;
    Architecture processor =
        switch (arch) {
          case "amd64", "x86_64" -> Architecture.x86_64;
          case "aarch64", "arm64" -> Architecture.aarch64;
          case "i386", "i686", "x86" -> Architecture.x86;
          default -> null;
        };
    return system == null || processor == null ? null : new OsArchitecture(system, processor);
  }

  /**
   * Several JVMs may do this at once: each writes a file of its own and renames it, so that nobody
   * ever sees half a binary, and a rename over one that runs leaves the running one alone.
   */
  private static Path unpack(String resource) throws IOException {
    Path directory = ownDirectory();
    Path target = directory.resolve(resource);
    try (InputStream in = ExecutableProvider.class.getResourceAsStream("/" + resource)) {
      if (in == null) {
        throw new IllegalStateException("embedded-redis has no resource '" + resource + "'");
      }
      byte[] content = in.readAllBytes();
      if (Files.isExecutable(target) && Files.size(target) == content.length) {
        return target;
      }
      Path part = Files.createTempFile(directory, resource, ".part");
      Files.write(part, content);
      if (!part.toFile().setExecutable(true)) {
        throw new IOException("'%s' cannot be made executable".formatted(part));
      }
      return Files.move(part, target, StandardCopyOption.ATOMIC_MOVE);
    }
  }

  /** A directory of this user, since its content will be run. */
  private static Path ownDirectory() throws IOException {
    String user = System.getProperty("user.name", "");
    Path directory =
        Path.of(System.getProperty("java.io.tmpdir"), "mortise-testkit-" + user.replace('/', '_'));
    if (!Files.isDirectory(directory)) {
      Path fresh = Files.createTempDirectory("mortise-testkit-");
      try {
        return Files.move(fresh, directory, StandardCopyOption.ATOMIC_MOVE);
      } catch (IOException e) {
        Files.deleteIfExists(fresh); // another JVM was faster
      }
    }
    return Files.getOwner(directory).getName().equals(user)
        ? directory
        : Files.createTempDirectory("mortise-testkit-");
  }
}
