package io.mortise.it.contract;

import io.mortise.testkit.RedisServer;

/** A server that also speaks TLS, and the certificate that it shows. */
record TlsServer(RedisServer redis, Certificates certificates) implements AutoCloseable {

  static TlsServer start(Certificates certificates) {
    return new TlsServer(
        RedisServer.builder().tls(certificates.certificate(), certificates.key()).start(),
        certificates);
  }

  int port() {
    return redis.tlsPort();
  }

  String uri() {
    return redis.tlsUri();
  }

  @Override
  public void close() {
    redis.close();
  }
}
