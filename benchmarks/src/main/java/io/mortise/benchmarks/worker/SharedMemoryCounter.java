package io.mortise.benchmarks.worker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A counter in memory that processes share; only the holder of the lock writes it. It has the
 * number of entries, and the moment at which the last holder left, by {@link System#nanoTime()},
 * which all processes of a machine share.
 *
 * <p>A holder reads the count when it enters, and writes one more when it leaves. If two holders
 * are inside at the same time, however shortly, both read the same count or one overwrites the
 * other's, and at the end the count is below the number of cycles.
 *
 * <p><b>Threads.</b> Any number of processes and threads map one file; the lock that is measured
 * orders them, and the accesses are volatile.
 */
public final class SharedMemoryCounter {
  private static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
  private static final int LEFT = 0;
  private static final int ENTRIES = Long.BYTES;
  private static final int SIZE = 2 * Long.BYTES;

  private final ByteBuffer memory;

  private SharedMemoryCounter(ByteBuffer memory) {
    this.memory = memory;
  }

  /** Returns a new file for a counter, deleted with this JVM. */
  public static Path newFile() {
    try {
      Path file = Files.createTempFile("mortise-bench-", ".counter");
      file.toFile().deleteOnExit();
      return file;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Maps the file, whatever its length. */
  public static SharedMemoryCounter map(Path file) {
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE)) {
      return new SharedMemoryCounter(channel.map(FileChannel.MapMode.READ_WRITE, 0, SIZE));
    } catch (IOException e) {
      throw new UncheckedIOException("the shared counter '%s' cannot be mapped".formatted(file), e);
    }
  }

  /** Sets both to zero. */
  public void clear() {
    LONG.setVolatile(memory, LEFT, 0L);
    LONG.setVolatile(memory, ENTRIES, 0L);
  }

  /** Returns the number of entries. */
  public long entries() {
    return (long) LONG.getVolatile(memory, ENTRIES);
  }

  /** Returns when the holder before began to leave, or 0 if there was none. */
  long left() {
    return (long) LONG.getVolatile(memory, LEFT);
  }

  /**
   * Counts the entry of the caller, which is about to leave.
   *
   * @param before the {@link #entries()} that it read when it entered
   * @param nanos the moment
   */
  void leaves(long before, long nanos) {
    LONG.setVolatile(memory, ENTRIES, before + 1);
    LONG.setVolatile(memory, LEFT, nanos);
  }
}
