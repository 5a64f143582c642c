package io.mortise.it.observability;

import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.support.ChildJvm;

/** Locks and unlocks, and then loses a hold by force; says whether Flight Recorder is there. */
final class LossProcess {
  private LossProcess() {}

  public static void main(String[] arguments) {
    System.out.println("recorder " + ModuleLayer.boot().findModule("jdk.jfr").isPresent());
    try (LockClient client = LockClient.create(arguments[0], ChildJvm.options().build())) {
      RedisLock lock = new RedisLock(client, arguments[1]);
      lock.lock();
      lock.unlock();
      lock.lock();
      lock.forceUnlock();
      try {
        lock.unlock();
      } catch (LeaseLostException e) {
        System.out.println("lost " + e.loss().reason());
      }
    }
  }
}
