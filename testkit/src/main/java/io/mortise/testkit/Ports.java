package io.mortise.testkit;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Free TCP ports on 127.0.0.1.
 *
 * <p>They are taken from below the ranges that systems use for outgoing connections, so that a
 * server that is down for a moment finds its port free again. The port of a node's cluster bus,
 * 10000 above, stays below them too, and is free as well.
 */
final class Ports {
  private static final int FIRST = 10_000;
  private static final int LAST = 22_000;
  private static final int CLUSTER_BUS = 10_000;
  private static final int ATTEMPTS = 1_000;

  private Ports() {}

  /** Free at this moment; another process may take it before it is used. */
  static int free() {
    for (int i = 0; i < ATTEMPTS; i++) {
      int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
      if (isFree(port) && isFree(port + CLUSTER_BUS)) {
        return port;
      }
    }
    throw new IllegalStateException(
        "no free port from %d to %d after %d attempts".formatted(FIRST, LAST, ATTEMPTS));
  }

  /** 127.0.0.1, also where the JVM prefers IPv6. */
  static InetAddress loopback() throws UnknownHostException {
    return InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
  }

  static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true); // connections that were closed a moment ago do not count
      socket.bind(new InetSocketAddress(loopback(), port));
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
