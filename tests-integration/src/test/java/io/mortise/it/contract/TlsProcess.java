package io.mortise.it.contract;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.RedisLock;
import io.mortise.testkit.JavaProcess;
import java.time.Duration;

/** A child JVM that trusts what its trust store says, and waits for one lock. */
final class TlsProcess {
  private TlsProcess() {}

  /** Arguments: URI, name. Says {@code locked}, or {@code refused <reason>: <message>}. */
  public static void main(String[] arguments) throws InterruptedException {
    try (LockClient client = LockClient.create(arguments[0])) {
      DistributedLock lock = new RedisLock(client, arguments[1]);
      if (lock.tryLock(Duration.ofSeconds(20))) {
        System.out.println("locked");
        lock.unlock();
      }
    } catch (LockException e) {
      System.out.println("refused " + e.reason() + ": " + e.getMessage());
    }
  }

  /** A child with the JVM's own trust store. */
  static JavaProcess trustingTheWorld(String uri, String name) {
    return JavaProcess.start(TlsProcess.class, uri, name);
  }

  static JavaProcess trusting(Certificates certificates, String uri, String name) {
    return JavaProcess.builder(TlsProcess.class)
        .arguments(uri, name)
        .jvmOptions(
            "-Djavax.net.ssl.trustStore=" + certificates.trustStore(),
            "-Djavax.net.ssl.trustStorePassword=" + Certificates.PASSWORD)
        .start();
  }
}
