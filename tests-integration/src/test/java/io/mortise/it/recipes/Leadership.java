package io.mortise.it.recipes;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A recipe of docs/recipes.md: one leader among many nodes. */
final class Leadership implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(Leadership.class);

  private final DistributedLock lock;
  private final Duty duty;

  Leadership(LockClient locks, Duty duty) {
    this.lock = locks.lock("leader");
    this.duty = duty;
  }

  /** Runs on a thread of its own in each node, until that thread is interrupted. */
  @Override
  public void run() {
    try {
      while (true) {
        lead();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // another node leads from now on
    }
  }

  private void lead() throws InterruptedException {
    try (Lease lease = lock.acquire()) { // waits while another node leads
      while (lease.isValid()) {
        if (Thread.interrupted()) { // a step need not notice it
          throw new InterruptedException("this node steps down");
        }
        duty.step(lease.fencingToken());
      }
    } catch (LeaseLostException e) {
      LOG.warn("no leader any more, stands again", e);
    } catch (LockException e) {
      if (!e.reason().isTransient()) {
        throw e; // a wrong password: nothing that another attempt would change
      }
      LOG.warn("no connection to Redis, stands again", e);
    }
  }
}
