package io.mortise.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Free TCP ports on 127.0.0.1.
 *
 * <p><b>From outside.</b> They are taken from below the ranges that systems use for outgoing
 * connections, so that a server that is down for a moment finds its port free again. The port of a
 * node's cluster bus, 10000 above, stays below them too, and is free as well.
 *
 * <p><b>Between test JVMs.</b> While a server is down its port looks free to every JVM that starts
 * another one. So a port is taken until it is given back: in a file that all JVMs of a user share,
 * each locks one byte for each of its ports. The locks of a process end with it, however it ends.
 *
 * <p><b>Threads.</b> Any thread may call all methods.
 */
final class Ports {
  private static final int CLUSTER_BUS = 10_000;
  private static final int FIRST = 10_000;
  private static final int LAST = FIRST + CLUSTER_BUS; // no port is the bus of another
  private static final int ATTEMPTS = 1_000;

  private static final Map<Integer, FileLock> TAKEN = new ConcurrentHashMap<>();

  /** Open as long as the JVM runs: to close any channel of a file ends all its locks. */
  private static final class Shared {
    static final FileChannel FILE = open();

    private static FileChannel open() {
      String name = "mortise-ports-" + System.getProperty("user.name");
      Path path = Path.of(System.getProperty("java.io.tmpdir"), name);
      try {
        return FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      } catch (IOException e) {
        throw new UncheckedIOException("'%s' cannot be opened".formatted(path), e);
      }
    }
  }

  private Ports() {}

  /**
   * Takes a port that is free at this moment; no JVM takes it here again until {@link #giveBack}.
   * Another program may bind it before it is used.
   */
  static int take() {
    for (int i = 0; i < ATTEMPTS; i++) {
      int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
      if (take(port)) {
        if (isFree(port) && isFree(port + CLUSTER_BUS)) {
          return port;
        }
        giveBack(port);
      }
    }
    throw new IllegalStateException(
        "no free port from %d to %d after %d attempts".formatted(FIRST, LAST, ATTEMPTS));
  }

  /** Takes this port; false if it is taken already. */
  static boolean take(int port) {
    try {
      @Nullable FileLock lock = Shared.FILE.tryLock(port, 1, false);
      if (lock != null) {
        TAKEN.put(port, lock);
      }
      return lock != null;
    } catch (OverlappingFileLockException ours) {
      return false;
    } catch (IOException e) {
      throw new UncheckedIOException("port %d cannot be taken".formatted(port), e);
    }
  }

  /** Gives ports back; ignores those that are not taken here. */
  static void giveBack(int... ports) {
    for (int port : ports) {
      @Nullable FileLock lock = TAKEN.remove(port);
      if (lock != null) {
        try {
          lock.release();
        } catch (IOException e) {
          throw new UncheckedIOException("port %d cannot be given back".formatted(port), e);
        }
      }
    }
  }

  /** 127.0.0.1, also where the JVM prefers IPv6. */
  static InetAddress loopback() throws UnknownHostException {
    return InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
  }

  static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true); // connections in TIME_WAIT do not count
      socket.bind(new InetSocketAddress(loopback(), port));
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
