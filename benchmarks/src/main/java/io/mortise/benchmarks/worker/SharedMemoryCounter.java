package io.mortise.benchmarks.worker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A few words of memory that processes share, written only by who is in the critical section: when
 * the last one left, by {@link System#nanoTime()} that a machine has once, and how many were in.
 *
 * <p>The count is raised by reading and writing, not atomically: if it is not the number of cycles
 * in the end, two were inside at a time.
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

  /** Maps the file, of whatever length. */
  public static SharedMemoryCounter map(Path file) {
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE)) {
      return new SharedMemoryCounter(channel.map(FileChannel.MapMode.READ_WRITE, 0, SIZE));
    } catch (IOException e) {
      throw new UncheckedIOException("the board '%s' cannot be mapped".formatted(file), e);
    }
  }

  /** Begins anew. */
  public void clear() {
    LONG.setVolatile(memory, LEFT, 0L);
    LONG.setVolatile(memory, ENTRIES, 0L);
  }

  /** How many have been in. */
  public long entries() {
    return (long) LONG.getVolatile(memory, ENTRIES);
  }

  /**
   * Who is in says so.
   *
   * @return when the one before began to leave, or 0 if this is the first
   */
  long entered() {
    LONG.setVolatile(memory, ENTRIES, entries() + 1);
    return (long) LONG.getVolatile(memory, LEFT);
  }

  /** Who is about to leave says so. */
  void leaves(long nanos) {
    LONG.setVolatile(memory, LEFT, nanos);
  }
}
