package io.mortise.connection.pool;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;

/**
 * A socket whose time-out counts from the moment when it is set, not from each read. The steps of a
 * handshake share it, and so do the parts of an answer.
 *
 * <p><b>Threads.</b> One thread at a time uses it, like its connection; any thread may call {@code
 * close}.
 */
final class WriteTimeoutSocket extends Socket {
  private int timeoutMillis;
  private long deadlineNanos;

  @Override
  public synchronized void setSoTimeout(int millis) throws SocketException {
    super.setSoTimeout(millis);
    timeoutMillis = millis;
    deadlineNanos = System.nanoTime() + millis * 1_000_000L;
  }

  @Override
  public synchronized int getSoTimeout() {
    return timeoutMillis;
  }

  @Override
  public InputStream getInputStream() throws IOException {
    return new DeadlineInputStream(super.getInputStream());
  }

  /** Sets the time left as the time-out of the next read; 0 means no time-out. */
  private void setTimeLeft() throws IOException {
    if (timeoutMillis > 0) {
      if (deadlineNanos - System.nanoTime() <= 0) {
        throw new SocketTimeoutException("Read timed out");
      }
      super.setSoTimeout(Math.min(timeoutMillis, Deadlines.millisUntil(deadlineNanos)));
    }
  }

  private final class DeadlineInputStream extends FilterInputStream {
    DeadlineInputStream(InputStream in) {
      super(in);
    }

    @Override
    public int read() throws IOException {
      setTimeLeft();
      return in.read();
    }

    @Override
    public int read(byte[] bytes, int from, int count) throws IOException {
      setTimeLeft();
      return in.read(bytes, from, count);
    }
  }
}
