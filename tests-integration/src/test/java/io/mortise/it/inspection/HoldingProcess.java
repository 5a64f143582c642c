package io.mortise.it.inspection;

import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.support.ChildJvm;
import java.io.OutputStream;

/** A child JVM that holds one lock until its input ends. */
final class HoldingProcess {
  private HoldingProcess() {}

  /** Arguments: URI, name. */
  public static void main(String[] arguments) throws Exception {
    try (LockClient client = LockClient.create(arguments[0], ChildJvm.options().build())) {
      RedisLock lock = new RedisLock(client, arguments[1]);
      lock.lock();
      System.out.println("locked " + client.id());
      System.in.transferTo(OutputStream.nullOutputStream());
      lock.unlock();
    }
  }
}
