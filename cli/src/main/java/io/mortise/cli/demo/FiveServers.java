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
  static final int SERVERS = 5;

  /** The one at which those wait that do not get in: the worst choice. */
  private static final int FIRST_VICTIM = 0;

  private static final int SECOND_VICTIM = 3;
  private static final Duration ALL_UP = Duration.ofMillis(600);
  private static final Duration ONE_DOWN = Duration.ofMillis(150);

  /** Two servers that lose their data stay down for a lease: see the promise of RedLock. */
  private static final Duration LONGER_THAN_A_LEASE = Duration.ofMillis(50);

  private static final int MOST_THREADS = 4;

  /** So that the time in which all are up, which comes first, is not at a disadvantage. */
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
    return "The lock is a RedLock on five Redis servers that know nothing of each other: whoever has"
        + " three of them is inside. Threads of all processes take turns to raise a number, which"
        + " they read, and write back. Meanwhile two of the servers are killed (SIGKILL), stay away"
        + " for a lease, and are started again without their data. Nobody has to wait for a lease to"
        + " run out.";
  }

  @Override
  public void warmUp(WorkerThreadContext till) throws InterruptedException {
    RedLock lock = lock(till, till.job().lockName() + ":warm-up-of-" + till.locks().id());
    for (int i = 0; i < WARM_UPS; i++) {
      lock.acquire(WARM_WITHIN).ifPresent(Lease::close); // at first, answers come late
    }
  }

  @Override
  public void work(WorkerThreadContext till) throws InterruptedException {
    RedLock lock = lock(till, till.job().lockName());
    while (till.isOpen()) {
      till.awaitCustomer();
      try {
        LockedSale.serve(lock, visit -> count(till, visit));
      } catch (LeaseLostException e) {
        till.report(EventType.TOLD, e.loss().fencingToken(), "unlock says: " + e.getMessage());
      } catch (LockException e) {
        till.report(EventType.FAILED, 0, String.valueOf(e.getMessage()));
      }
    }
  }

  private static RedLock lock(WorkerThreadContext till, String name) {
    return RedLock.builder().members(name, till.allLocks()).build();
  }

  private static boolean count(WorkerThreadContext till, Entry visit) {
    Accounts accounts = till.accounts();
    long before = accounts.read(Account.A);
    till.compute();
    accounts.write(Account.A, before + 1);
    till.reportHeld(visit, true);
    return true;
  }

  @Override
  public Outcome play(ChapterRun stage) throws InterruptedException {
    try (Servers servers = Servers.start(SERVERS)) {
      stage.accounts().write(Account.A, 0);
      stage.locksOn(servers.uris());
      stage.open(worker -> "counts", Math.min(MOST_THREADS, stage.settings().threads()));
      takeTurns(stage, ALL_UP, "all five servers up");
      long killedAt = servers.kill(FIRST_VICTIM);
      takeTurns(stage, ONE_DOWN, "one server is dead");
      servers.kill(SECOND_VICTIM);
      takeTurns(stage, stage.settings().lease().plus(LONGER_THAN_A_LEASE), "two servers are dead");
      servers.bringBack(FIRST_VICTIM);
      takeTurns(stage, ONE_DOWN, "one is back");
      servers.bringBack(SECOND_VICTIM);
      takeTurns(stage, ALL_UP, "all are back");
      stage.close();
      stage.awaitEnd();
      return outcome(FiveServersRun.of(stage, servers, killedAt));
    }
  }

  /** Watches for that time, and until somebody was inside. */
  private static void takeTurns(ChapterRun stage, Duration time, String what)
      throws InterruptedException {
    stage.progress().say(what);
    int before = stage.recording().served();
    stage.inbox().pass(time);
    stage.await("somebody to get in: " + what, () -> stage.recording().served() > before);
  }

  static Outcome outcome(FiveServersRun run) {
    Exclusion exclusion = Exclusion.of(run.holds());
    boolean ok =
        exclusion.holds()
            && run.lostUpdates() == 0
            && run.errors() == 0
            && run.cycles(SERVERS) > 0
            && run.cycles(SERVERS - 2) > 0
            && run.longestGapNanos() <= run.mostGap().toNanos();
    List<Metric> figures = new ArrayList<>(run.figures());
    figures.addAll(exclusion.figures());
    String explanation =
        ok
            ? "One at a time: %d turns while all five servers were up, %d while two were dead, and never more than %s without anybody inside."
                .formatted(
                    run.cycles(SERVERS),
                    run.cycles(SERVERS - 2),
                    Metric.millisText(run.longestGapNanos()))
            : "%d turns while five servers were up, %d while three were; nobody was inside for up to %s, where %s is the most; %d updates were lost; %d errors. %s"
                .formatted(
                    run.cycles(SERVERS),
                    run.cycles(SERVERS - 2),
                    Metric.millisText(run.longestGapNanos()),
                    Metric.millisText(run.mostGap().toNanos()),
                    run.lostUpdates(),
                    run.errors(),
                    exclusion.explanation());
    return new Outcome(ok, explanation, figures, run.pictures());
  }
}
