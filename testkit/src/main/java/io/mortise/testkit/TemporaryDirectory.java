package io.mortise.testkit;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A temporary directory of this JVM, deleted at its end at the latest. After a {@code kill -9} the
 * next JVM that makes one deletes it.
 *
 * <p>This JVM holds a lock on a file in the directory, its mark. The operating system ends that
 * lock with the JVM, whatever ends the JVM. So a mark that another JVM can lock belongs to a JVM
 * that is gone. A directory without a mark is nobody's business.
 *
 * <p><b>Threads.</b> One thread at a time uses an instance; the set and the flag are thread-safe.
 */
final class TemporaryDirectory {
  private static final Logger LOG = LoggerFactory.getLogger(TemporaryDirectory.class);
  private static final String PREFIX = "mortise-redis-";
  private static final String MARK = "in-use";

  /** Those of this JVM. It must not open their marks again: closing one ends the lock too. */
  private static final Set<Path> OWN = ConcurrentHashMap.newKeySet();

  private static final AtomicBoolean CLEANED = new AtomicBoolean();

  private final Path path;
  private final FileChannel mark;
  private final Runnable forgetCleanup;

  private TemporaryDirectory(Path path, FileChannel mark) {
    this.path = path;
    this.mark = mark;
    this.forgetCleanup = OsProcess.atShutdown(() -> delete(path));
  }

  /** Makes a directory; the first call deletes those of JVMs that are gone. */
  static synchronized TemporaryDirectory create() throws IOException {
    Path parent = Path.of(System.getProperty("java.io.tmpdir"));
    if (CLEANED.compareAndSet(false, true)) {
      deleteAbandoned(parent);
    }
    Path path = Files.createTempDirectory(parent, PREFIX);
    OWN.add(path);
    return new TemporaryDirectory(path, mark(path));
  }

  /** The mark has its name once it is locked: before that the directory would look abandoned. */
  private static FileChannel mark(Path directory) throws IOException {
    Path unlocked = directory.resolve(MARK + ".part");
    FileChannel channel = FileChannel.open(unlocked, CREATE_NEW, WRITE);
    try {
      var unused = channel.lock();
      Files.move(unlocked, directory.resolve(MARK), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      LOG.debug("'{}' has no mark: its file system has no locks", directory, e);
    }
    return channel;
  }

  Path path() {
    return path;
  }

  /** Deletes the directory with all that is in it. */
  void delete() {
    forgetCleanup.run();
    delete(path);
    OWN.remove(path);
    try {
      mark.close();
    } catch (IOException e) {
      LOG.debug("the mark of '{}' could not be closed", path, e);
    }
  }

  /** Deletes all files in the directory but these. */
  void deleteAllBut(Set<Path> kept) throws IOException {
    try (Stream<Path> files = Files.walk(path)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        if (!kept.contains(file) && !file.equals(path) && !file.equals(path.resolve(MARK))) {
          Files.delete(file);
        }
      }
    }
  }

  /** Deletes the directories there whose JVMs are gone. */
  static void deleteAbandoned(Path parent) {
    try (DirectoryStream<Path> all = Files.newDirectoryStream(parent, PREFIX + "*")) {
      for (Path directory : all) {
        if (!OWN.contains(directory) && Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
          deleteIfAbandoned(directory);
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      LOG.debug("'{}' could not be searched for directories of killed JVMs", parent, e);
    }
  }

  private static void deleteIfAbandoned(Path directory) {
    try (FileChannel theirs = FileChannel.open(directory.resolve(MARK), WRITE)) {
      if (theirs.tryLock() != null) {
        delete(directory);
      }
    } catch (NoSuchFileException unmarked) {
      // It was made by something else, or has been deleted just now.
    } catch (IOException e) {
      LOG.debug("'{}' is left to its owner", directory, e);
    }
  }

  private static void delete(Path directory) {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException | UncheckedIOException e) {
      LOG.warn("'{}' could not be deleted", directory, e);
    }
  }
}
