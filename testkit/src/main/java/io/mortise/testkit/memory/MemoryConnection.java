package io.mortise.testkit.memory;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A connection to a {@link MemoryServer}, as the socket that Jedis needs.
 *
 * <p><b>Threads.</b> As a socket: one thread may write while another one reads, and any thread may
 * close. Everything is guarded by the monitor of the server, in which a reader waits too.
 */
@SuppressWarnings("UnsynchronizedOverridesSynchronized") // the server's monitor, not the socket's
public final class MemoryConnection extends Socket {
  private final MemoryServer server;
  private final Input input = new Input();
  private final Output output = new Output();
  private byte[] replies = new byte[0];
  private int replyStart;
  private byte[] request = new byte[0];
  private int timeoutMillis;

  /** Whether the server has ended the connection. */
  private boolean broken;

  /** Whether the client has. */
  private boolean closed;

  MemoryConnection(MemoryServer server) {
    this.server = server;
  }

  // ---- the server's side, with the monitor

  boolean isOpen() {
    return !broken && !closed;
  }

  boolean isBroken() {
    return broken;
  }

  void reply(@Nullable Object reply) {
    if (isOpen()) {
      byte[] bytes = Replies.encode(reply);
      byte[] unread = new byte[replies.length - replyStart + bytes.length];
      System.arraycopy(replies, replyStart, unread, 0, replies.length - replyStart);
      System.arraycopy(bytes, 0, unread, replies.length - replyStart, bytes.length);
      replies = unread;
      replyStart = 0;
      server.notifyAll();
    }
  }

  void breakNow() {
    broken = true;
    server.left(this);
    server.notifyAll();
  }

  // ---- the client's side

  private final class Input extends InputStream {
    @Override
    public int read() throws SocketException, SocketTimeoutException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length)
        throws SocketException, SocketTimeoutException {
      synchronized (server) {
        awaitReply();
        int count = Math.min(length, replies.length - replyStart);
        if (count == 0 && length > 0) {
          return -1;
        }
        System.arraycopy(replies, replyStart, into, offset, count);
        replyStart += count;
        return count;
      }
    }

    @Override
    public int available() {
      synchronized (server) {
        return replies.length - replyStart;
      }
    }
  }

  /** Waits until there is something to read, or the connection has ended; an interrupt is kept. */
  @SuppressWarnings("GuardedBy")
  private void awaitReply() throws SocketException, SocketTimeoutException {
    long endNanos = System.nanoTime() + timeoutMillis * 1_000_000L;
    boolean interrupted = false;
    try {
      while (isOpen() && replyStart == replies.length) {
        long leftMillis = (endNanos - System.nanoTime() + 999_999) / 1_000_000;
        if (timeoutMillis > 0 && leftMillis <= 0) {
          throw new SocketTimeoutException("Read timed out");
        }
        try {
          server.wait(timeoutMillis > 0 ? leftMillis : 0);
        } catch (InterruptedException e) {
          interrupted = true; // a socket does not see interrupts
        }
      }
      if (closed) {
        throw new SocketException("Socket closed");
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private final class Output extends OutputStream {
    @Override
    public void write(int one) throws SocketException {
      write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws SocketException {
      synchronized (server) {
        if (!isOpen()) {
          throw new SocketException(closed ? "Socket closed" : "Broken pipe");
        }
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes(request);
        all.write(bytes, offset, length);
        RequestReader reader = new RequestReader(all.toByteArray());
        try {
          for (List<String> words = reader.next();
              words != null && isOpen();
              words = reader.next()) {
            server.accept(MemoryConnection.this, words);
          }
        } finally {
          request = reader.rest();
        }
      }
    }
  }

  @Override
  public InputStream getInputStream() {
    return input;
  }

  @Override
  public OutputStream getOutputStream() {
    return output;
  }

  @Override
  public void close() {
    synchronized (server) {
      closed = true;
      server.left(this);
      server.notifyAll();
    }
  }

  @Override
  public boolean isClosed() {
    synchronized (server) {
      return closed;
    }
  }

  @Override
  public void setSoTimeout(int millis) {
    synchronized (server) {
      timeoutMillis = millis;
    }
  }

  @Override
  public int getSoTimeout() {
    synchronized (server) {
      return timeoutMillis;
    }
  }

  // ---- without a meaning here

  @Override
  public boolean isConnected() {
    return true;
  }

  @Override
  public boolean isBound() {
    return true;
  }

  @Override
  public boolean isInputShutdown() {
    return false;
  }

  @Override
  public boolean isOutputShutdown() {
    return false;
  }

  @Override
  public void setTcpNoDelay(boolean on) {}

  @Override
  public void setKeepAlive(boolean on) {}

  @Override
  public void setSoLinger(boolean on, int seconds) {}

  @Override
  public void setReuseAddress(boolean on) {}

  @Override
  public InetAddress getInetAddress() {
    return InetAddress.getLoopbackAddress();
  }

  @Override
  public int getPort() {
    return 0;
  }

  @Override
  public SocketAddress getRemoteSocketAddress() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  }

  @Override
  public String toString() {
    return "a connection to a Redis in memory";
  }
}
