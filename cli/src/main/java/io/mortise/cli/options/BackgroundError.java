package io.mortise.cli.options;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;

/**
 * Standard error whose writers never wait: a thread of its own writes to the file descriptor. When
 * nobody reads it, and the pipe is full, lines are dropped. A program that has to end another one
 * in time must not be held up by its messages.
 *
 * <p><b>Threads.</b> Any thread may write.
 */
public final class BackgroundError extends OutputStream {
  private static final int MAX_WAITING = 1_000;

  private final OutputStream target;
  private final ThreadPoolExecutor writer =
      new ThreadPoolExecutor(
          1,
          1,
          0,
          MILLISECONDS,
          new ArrayBlockingQueue<>(MAX_WAITING),
          BackgroundError::thread,
          new ThreadPoolExecutor.DiscardPolicy());

  private BackgroundError(OutputStream target) {
    this.target = target;
  }

  /** Puts it in the place of {@code System.err}. */
  public static BackgroundError install() {
    BackgroundError error = new BackgroundError(new FileOutputStream(FileDescriptor.err));
    error.writer.prestartCoreThread();
    System.setErr(new PrintStream(error, true, charset()));
    return error;
  }

  private static Thread thread(Runnable work) {
    Thread thread = new Thread(work, "mortise-stderr");
    thread.setDaemon(true);
    return thread;
  }

  /** Returns the charset of the terminal, or of the system, by the names that each Java has. */
  private static Charset charset() {
    for (String key : new String[] {"stderr.encoding", "sun.stderr.encoding", "native.encoding"}) {
      String name = System.getProperty(key);
      if (name != null && Charset.isSupported(name)) {
        return Charset.forName(name);
      }
    }
    return Charset.defaultCharset();
  }

  @Override
  public void write(int oneByte) {
    write(new byte[] {(byte) oneByte}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int from, int length) {
    byte[] copy = Arrays.copyOfRange(bytes, from, from + length);
    writer.execute(() -> writeNow(copy));
  }

  private void writeNow(byte[] bytes) {
    try {
      target.write(bytes);
    } catch (IOException closed) {
      writer.getQueue().clear(); // nobody reads it any more
    }
  }

  /** Waits until all is written, but not for longer than this. */
  public void drain(Duration most) {
    writer.shutdown();
    try {
      var unused = writer.awaitTermination(most.toMillis(), MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
