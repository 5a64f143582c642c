package io.mortise.cli.demo;

import io.mortise.cli.timeline.LineUps;
import io.mortise.cli.worker.WorkerThreadContext;
import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import java.util.ArrayList;
import java.util.List;

/**
 * The fair lock beside the plain one. With each, threads of all processes first line up, so that
 * the order of their requests is certain, and enter one after the other; then they sell, for the
 * waits.
 */
final class Fairness implements Chapter {
  /** So that the first lock has no disadvantage. */
  private static final int WARM_UPS = 50;

  @Override
  public String name() {
    return "fairness";
  }

  @Override
  public String title() {
    return "With RedisFairLock";
  }

  @Override
  public String story() {
    return "First a line: while the demo holds the lock, threads of all processes request it one after"
        + " the other, and then it is released. Which threads enter before earlier ones? Then the"
        + " sale again. Both with a RedisLock, which keeps no order, and with a RedisFairLock,"
        + " which grants in the order of requests, over all processes, at the price of a message to"
        + " another process at each release.";
  }

  @Override
  public long expected(DemoSettings settings) {
    return FairnessLock.values().length
        * ((long) settings.stock() + FairnessRun.inLine(settings.processes()));
  }

  @Override
  public void warmUp(WorkerThreadContext context) {
    String name = context.job().lockName() + ":warm-up-of-" + context.locks().id();
    for (FairnessLock kind : FairnessLock.values()) {
      for (int i = 0; i < WARM_UPS; i++) {
        kind.lock(context.locks(), name).tryAcquire().ifPresent(Lease::close);
      }
    }
  }

  @Override
  public void work(WorkerThreadContext context) throws InterruptedException {
    String role = context.job().role();
    FairnessLock kind = FairnessLock.valueOf(role.replace(FairnessRun.LINE_UP, ""));
    DistributedLock lock = kind.lock(context.locks(), context.job().lockName());
    if (role.endsWith(FairnessRun.LINE_UP)) {
      context.awaitCall();
      LockedSale.serve(lock, entry -> LockedSale.sell(context, entry));
    } else {
      LockedSale.run(context, lock);
    }
  }

  @Override
  public Outcome play(ChapterRun run) throws InterruptedException {
    FairnessRun plain = FairnessRun.play(run, FairnessLock.PLAIN);
    FairnessRun fair = FairnessRun.play(run, FairnessLock.FAIR);
    return outcome(plain, fair);
  }

  /** The verdict is on the line, where the order of requests is certain; in a sale it is not. */
  static Outcome outcome(FairnessRun plain, FairnessRun fair) {
    boolean ok = fair.lineUp().overtaken() == 0 && fair.isSafe() && plain.isSafe();
    List<Metric> figures = new ArrayList<>();
    long tolerance = Math.max(fair.inLineWithinNanos(), FairnessRun.TO_GET_IN_LINE.toNanos());
    figures.addAll(plain.figures(tolerance));
    figures.addAll(fair.figures(tolerance));
    figures.add(
        FairnessLock.FAIR.figure(
            Metric.millis("inLineWithinMillis", "each in line within", fair.inLineWithinNanos())
                .aside()));
    String explanation =
        ok
            ? "RedisFairLock let all %d in as they had asked; of a RedisLock %s overtaken. In the sale the longest wait was %s with the fair lock and %s without, the median %s and %s."
                .formatted(
                    fair.lineUp().asked().size(),
                    plain.lineUp().overtaken() == 0
                        ? "nobody was, by chance,"
                        : "%d were".formatted(plain.lineUp().overtaken()),
                    fair.waited(1),
                    plain.waited(1),
                    fair.waited(0.5),
                    plain.waited(0.5))
            : "%d of %d were overtaken at the fair lock. RedisLock: %s RedisFairLock: %s"
                .formatted(
                    fair.lineUp().overtaken(),
                    fair.lineUp().asked().size(),
                    plain.complaint(),
                    fair.complaint());
    return new Outcome(
        ok,
        explanation,
        figures,
        List.of(
            new LineUps(
                List.of(plain.lineUp(), fair.lineUp()),
                "The lines: from the order of asking to the order of coming in. Each asked when the"
                    + " one before it stood in line. For the fair lock the queue in Redis says when"
                    + " that is; a RedisLock has none, so each was given %d ms."
                        .formatted(FairnessRun.TO_GET_IN_LINE.toMillis())
                    + " Only this is judged: in the sale below nobody can see when a question"
                    + " reaches Redis, and on a busy machine that takes a while."),
            plain.excerpt(),
            fair.excerpt()));
  }
}
