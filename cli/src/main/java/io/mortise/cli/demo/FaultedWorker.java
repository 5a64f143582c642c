package io.mortise.cli.demo;

import io.mortise.cli.worker.WorkerThreadContext;
import java.util.HashMap;
import java.util.Map;

/** The worker to which something happens inside the critical section, while the others sell. */
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
   * Whether this is the victim, and the sale is well under way: a tenth of the stock is sold, and
   * something is left.
   */
  static boolean isDue(WorkerThreadContext till, int left) {
    return till.job().role().equals(ROLE) && left > 0 && left <= till.job().stock() * 9L / 10;
  }

  /**
   * To be called between two customers. The others keep half of the stock until the victim is
   * inside, however long it takes to get there: who of several processes is next is not theirs to
   * say. Each of their threads may sell one more, if it asked just then.
   */
  static void keepSomeFor(WorkerThreadContext till) throws InterruptedException {
    if (till.job().role().equals(OTHERS) && till.stock().read() <= till.job().stock() / 2) {
      till.awaitProceed();
    }
  }
}
