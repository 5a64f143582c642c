package io.mortise.connection.pool;

import com.google.common.base.Ticker;
import io.mortise.connection.concurrent.Deadline;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.concurrent.TimeUnit;

/**
 * A socket whose time-out counts from the moment when it is set, not from each read. The steps of a
 * handshake share it, and so do the parts of an answer.
 *
 * <p><b>Threads.</b> One thread at a time uses it, like its connection; any thread may call {@code
 * close}.
 */
final class ReadDeadlineSocket extends Socket {
  private int timeoutMillis;
  private Deadline deadline;

  ReadDeadlineSocket(Ticker ticker) {
    this.deadline = Deadline.after(0, ticker);
  }

  @Override
  public synchronized void setSoTimeout(int millis) throws SocketException {
    super.setSoTimeout(millis);
    timeoutMillis = millis;
    deadline = Deadline.after(TimeUnit.MILLISECONDS.toNanos(millis), deadline.ticker());
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
      if (deadline.hasPassed()) {
        throw new SocketTimeoutException("Read timed out");
      }
      super.setSoTimeout(Math.min(timeoutMillis, deadline.leftMillis()));
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
