package io.mortise.it.contract;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.RedisLock;
import io.mortise.it.support.ChildJvm;
import io.mortise.testkit.JavaProcess;
import java.time.Duration;

/** A child JVM with a trust store, which waits for one lock. */
final class TlsProcess {
  private TlsProcess() {}

  /** Arguments: URI, name. Prints {@code locked}, or {@code refused <reason>: <message>}. */
  public static void main(String[] arguments) throws InterruptedException {
    try (LockClient client = LockClient.create(arguments[0], ChildJvm.options().build())) {
      DistributedLock lock = new RedisLock(client, arguments[1]);
      if (lock.tryLock(Duration.ofSeconds(20))) {
        System.out.println("locked");
        lock.unlock();
      }
    } catch (LockException e) {
      System.out.println("refused " + e.reason() + ": " + e.getMessage());
    }
  }

  /** Starts a child with the default trust store of the JVM. */
  static JavaProcess withDefaultTrustStore(String uri, String name) {
    return ChildJvm.start(TlsProcess.class, uri, name);
  }

  /** Starts a child that trusts the certificate. */
  static JavaProcess trusting(Certificates certificates, String uri, String name) {
    return ChildJvm.builder(TlsProcess.class)
        .arguments(uri, name)
        .jvmOptions(
            "-Djavax.net.ssl.trustStore=" + certificates.trustStore(),
            "-Djavax.net.ssl.trustStorePassword=" + Certificates.PASSWORD)
        .start();
  }
}
