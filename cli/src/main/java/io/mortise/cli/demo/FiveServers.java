package io.mortise.cli.demo;

import io.mortise.cli.worker.Accounts;
import io.mortise.cli.worker.Accounts.Account;
import io.mortise.cli.worker.Entry;
import io.mortise.cli.worker.EventType;
import io.mortise.cli.worker.WorkerThreadContext;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockException;
import io.mortise.redlock.RedLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A lock on five servers, of which two die and come back while it is in use. */
final class FiveServers implements Chapter {
  /** The server at which waiters wait: the worst choice. */
  private static final int FIRST_VICTIM = 0;

  private static final int SECOND_VICTIM = 3;
  private static final Duration ALL_UP = Duration.ofMillis(600);
  private static final Duration ONE_DOWN = Duration.ofMillis(150);

  /** Two servers that lose their data stay down for a lease: see the guarantees of RedLock. */
  private static final Duration LONGER_THAN_A_LEASE = Duration.ofMillis(50);

  private static final int MOST_THREADS = 4;

  /**
   * A node has the eighth part of a lease to answer. The default, a hundredth, is too short where
   * all servers and workers share a machine.
   */
  private static final int BUDGETS_IN_A_LEASE = 8;

  /** So that the time in which all are up, which comes first, has no disadvantage. */
  private static final int WARM_UPS = 50;

  private static final Duration WARM_WITHIN = Duration.ofSeconds(10);

  @Override
  public String name() {
    return "redlock";
  }

  @Override
  public String title() {
    return "With RedLock";
  }

  @Override
  public String story() {
    return "The lock is a RedLock on five independent Redis servers: a thread that has three of them"
        + " is inside. Threads of all processes take turns to raise a number, which"
        + " they read, and write back. Meanwhile two of the servers are killed (SIGKILL), stay away"
        + " for a lease, and are started again without their data. No thread has to wait for a lease to"
        + " run out.";
  }

  @Override
  public void warmUp(WorkerThreadContext context) throws InterruptedException {
    RedLock lock = lock(context, context.job().lockName() + ":warm-up-of-" + context.locks().id());
    for (int i = 0; i < WARM_UPS; i++) {
      try {
        lock.acquire(WARM_WITHIN).ifPresent(Lease::close);
      } catch (LockException late) {
        // At first answers come later than a node has time. A lasting fault shows in the chapter.
      }
    }
  }

  @Override
  public void work(WorkerThreadContext context) throws InterruptedException {
    RedLock lock = lock(context, context.job().lockName());
    while (context.isOpen()) {
      context.awaitCustomer();
      try {
        LockedSale.serve(lock, entry -> count(context, entry));
      } catch (LeaseLostException e) {
        context.report(
            EventType.NOTIFIED, e.loss().fencingToken(), "unlock throws: " + e.getMessage());
      } catch (LockException e) {
        boolean inDoubt = e.reason() == LockException.Reason.IN_DOUBT;
        context.report(
            inDoubt ? EventType.IN_DOUBT : EventType.FAILED, 0, String.valueOf(e.getMessage()));
      }
    }
  }

  private static RedLock lock(WorkerThreadContext context, String name) {
    return RedLock.builder()
        .members(name, context.allLocks())
        .nodeWaitBudget(Duration.ofMillis(context.job().leaseMillis() / BUDGETS_IN_A_LEASE))
        .build();
  }

  private static boolean count(WorkerThreadContext context, Entry entry) {
    Accounts accounts = context.accounts();
    long before = accounts.read(Account.A);
    context.compute();
    accounts.write(Account.A, before + 1);
    context.reportHeld(entry, true);
    return true;
  }

  @Override
  public Outcome play(ChapterRun run) throws InterruptedException {
    try (Servers servers = Servers.start(FiveServersRun.SERVERS)) {
      run.accounts().write(Account.A, 0);
      run.locksOn(servers.uris());
      run.open(worker -> "counts", Math.min(MOST_THREADS, run.settings().threads()));
      takeTurns(run, ALL_UP, "all five servers up");
      long killedAt = servers.kill(FIRST_VICTIM);
      takeTurns(run, ONE_DOWN, "one server is dead");
      servers.kill(SECOND_VICTIM);
      takeTurns(run, run.settings().lease().plus(LONGER_THAN_A_LEASE), "two servers are dead");
      servers.restart(FIRST_VICTIM);
      takeTurns(run, ONE_DOWN, "one is back");
      servers.restart(SECOND_VICTIM);
      takeTurns(run, ALL_UP, "all are back");
      run.close();
      run.awaitEnd();
      return outcome(FiveServersRun.of(run, servers, killedAt));
    }
  }

  /** Watches for that time, and until a thread has entered. */
  private static void takeTurns(ChapterRun run, Duration time, String what)
      throws InterruptedException {
    run.progress().say(what);
    int before = run.recording().served();
    run.events().pass(time);
    run.await("a thread to enter: " + what, () -> run.recording().served() > before);
  }

  static Outcome outcome(FiveServersRun run) {
    Exclusion exclusion = Exclusion.of(run.holds());
    boolean ok =
        exclusion.holds()
            && run.lostUpdates() == 0
            && run.errors().isEmpty()
            && run.cycles(FiveServersRun.SERVERS) > 0
            && run.cycles(FiveServersRun.SERVERS - 2) > 0
            && run.longestGapNanos() <= run.mostGap().toNanos();
    List<Metric> figures = new ArrayList<>(run.figures());
    figures.addAll(exclusion.figures());
    String explanation =
        ok
            ? "One at a time: %d turns while all five servers were up, %d while two were dead, and never more than %s without anybody inside."
                .formatted(
                    run.cycles(FiveServersRun.SERVERS),
                    run.cycles(FiveServersRun.SERVERS - 2),
                    Metric.millisText(run.longestGapNanos()))
            : "%d turns while five servers were up, %d while three were; nobody was inside for up to %s, where %s is the most; %d updates were lost; errors: %s. %s"
                .formatted(
                    run.cycles(FiveServersRun.SERVERS),
                    run.cycles(FiveServersRun.SERVERS - 2),
                    Metric.millisText(run.longestGapNanos()),
                    Metric.millisText(run.mostGap().toNanos()),
                    run.lostUpdates(),
                    run.errors(),
                    exclusion.explanation());
    return new Outcome(ok, explanation, figures, run.drawings());
  }
}
