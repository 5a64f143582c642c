package io.mortise.testkit;

import io.mortise.testkit.FaultProxy.Direction;
import io.mortise.testkit.FaultProxy.LossStyle;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection through a {@link FaultProxy}: passes the bytes of a client on to the server, and
 * back.
 *
 * <p><b>Threads.</b> One thread for each direction; any thread may close or reset it.
 */
final class ProxyConnection {
  private static final Logger log = LoggerFactory.getLogger(ProxyConnection.class);
  private static final int PIECE = 64 * 1024;

  private final FaultProxy proxy;
  private final Socket client;
  private volatile @Nullable Socket server;
  private volatile boolean closed;

  // Decided by the faults, under their lock.
  volatile @Nullable LossStyle losing;
  volatile boolean lostReply;
  volatile boolean lostBytes;
  volatile boolean forgotten;

  ProxyConnection(FaultProxy proxy, Socket client) {
    this.proxy = proxy;
    this.client = client;
  }

  /** Connects to the server and passes on what the client sends, until either side ends. */
  void serve() {
    proxy.faults().awaitService(() -> closed);
    if (closed) {
      return;
    }
    try {
      client.setTcpNoDelay(true);
      Socket target = proxy.connect();
      server = target;
      if (closed) { // in between: then nobody has seen the socket to close it
        target.close();
        return;
      }
      proxy.spawn("to client", () -> pump(target, client, Direction.TO_CLIENT));
      pump(client, target, Direction.TO_SERVER);
    } catch (IOException e) {
      log.debug("{}: the server cannot be reached", proxy, e);
      reset();
    }
  }

  /** Closes it as a crashed process does: bytes under way are lost. */
  void reset() {
    try {
      client.setSoLinger(true, 0);
    } catch (IOException e) {
      log.debug("{}: closed already", proxy, e);
    }
    close();
  }

  /**
   * Ends its faults, under their lock: bytes that are lost are missing for ever, so it is closed.
   */
  void restore() {
    if (lostBytes) {
      close();
    } else {
      losing = null;
      forgotten = false;
    }
  }

  void close() {
    closed = true;
    close(client);
    Socket target = server;
    if (target != null) {
      close(target);
    }
    proxy.closed(this);
  }

  private void pump(Socket from, Socket to, Direction direction) {
    byte[] buffer = new byte[PIECE];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        proxy.faults().awaitDelay(direction, () -> closed);
        byte[] piece = Arrays.copyOf(buffer, count);
        if (proxy.faults().passes(this, direction, piece)) {
          out.write(piece);
        } else if (losing == LossStyle.CLOSE) {
          return;
        }
      }
    } catch (IOException e) {
      log.trace("{}: a connection ended", proxy, e);
    } finally {
      close();
    }
  }

  private void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      log.debug("{}: a socket did not close in order", proxy, e);
    }
  }
}
