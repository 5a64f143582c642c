package io.mortise.it.contract;

import io.mortise.testkit.RedisServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** A server that also speaks TLS, on a port of its own. */
record TlsServer(RedisServer redis, int port, Certificates certificates) implements AutoCloseable {

  static TlsServer start(Certificates certificates) throws IOException {
    int port = freePort();
    RedisServer redis =
        RedisServer.builder()
            .config("tls-port", Integer.toString(port))
            .config("tls-cert-file", certificates.certificate().toString())
            .config("tls-key-file", certificates.key().toString())
            .config("tls-ca-cert-file", certificates.certificate().toString())
            .config("tls-auth-clients", "no")
            .start();
    return new TlsServer(redis, port, certificates);
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  String uri() {
    return "rediss://%s:%d".formatted(redis.host(), port);
  }

  @Override
  public void close() {
    redis.close();
  }
}
