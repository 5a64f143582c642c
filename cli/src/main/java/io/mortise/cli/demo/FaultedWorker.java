package io.mortise.cli.demo;

import io.mortise.cli.worker.WorkerThreadContext;
import java.util.HashMap;
import java.util.Map;

/** The worker that is killed or suspended inside the critical section, while the others sell. */
final class FaultedWorker {
  /** Its number. */
  static final int WORKER = 0;

  private static final String ROLE = "victim";
  private static final String OTHERS = "witness";

  private FaultedWorker() {}

  static Map<Integer, String> roles(int processes) {
    Map<Integer, String> roles = new HashMap<>();
    for (int i = 0; i < processes; i++) {
      roles.put(i, i == WORKER ? ROLE : OTHERS);
    }
    return roles;
  }

  /**
   * Whether this worker is the victim, and the fault is due: a tenth of the stock is sold, and some
   * is left.
   */
  static boolean isDue(WorkerThreadContext context, int left) {
    return context.job().role().equals(ROLE) && left > 0 && left <= context.job().stock() * 9L / 10;
  }

  /**
   * Waits between two customers, if this is another worker. The others keep half of the stock until
   * the victim is inside, however long that takes: a plain lock does not say which process is next.
   * Each of their threads may sell one more, if it had requested the lock already.
   */
  static void keepSomeFor(WorkerThreadContext context) throws InterruptedException {
    if (context.job().role().equals(OTHERS)
        && context.stock().read() <= context.job().stock() / 2) {
      context.awaitProceed();
    }
  }
}
