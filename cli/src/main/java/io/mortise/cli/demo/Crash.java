package io.mortise.cli.demo;

import io.mortise.cli.timeline.Hold;
import io.mortise.cli.timeline.Span;
import io.mortise.cli.timeline.Timeline;
import io.mortise.cli.timeline.Timeline.Frame;
import io.mortise.cli.worker.WorkerEvent.Entered;
import io.mortise.cli.worker.WorkerThreadContext;
import io.mortise.core.RedisLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A holder dies: the others get in when its lease has run out, and the stock stays right. */
final class Crash implements Chapter {
  /** For the wake-up and two round trips, on a machine that is busy. */
  private static final Duration MARGIN = Duration.ofSeconds(1);

  /** How much of the time before and after is to be seen. */
  private static final Duration AROUND = Duration.ofMillis(150);

  @Override
  public String name() {
    return "crash";
  }

  @Override
  public String title() {
    return "A holder is killed";
  }

  @Override
  public String story() {
    return "In the middle of the sale a worker process is killed (SIGKILL) inside the critical"
        + " section, after it has read the stock and before it writes. Nobody releases its lock;"
        + " the lock ends with its lease.";
  }

  @Override
  public void work(WorkerThreadContext till) throws InterruptedException {
    RedisLock lock = new RedisLock(till.locks(), till.job().lockName());
    LockedSale.run(
        till,
        lock,
        visit -> {
          if (FaultedWorker.isDue(till, till.stock().read())) {
            till.stayInside(visit);
          }
          return LockedSale.sell(till, visit);
        });
  }

  @Override
  public Outcome play(ChapterRun stage) throws InterruptedException {
    stage.open(FaultedWorker.roles(stage.settings().processes()), FaultedWorker.WORKER);
    Entered last = stage.awaitStaying(FaultedWorker.WORKER);
    long killedAt = stage.fate().kill(FaultedWorker.WORKER);
    stage.progress().say("a holder was killed");
    stage.awaitEnd();

    Sale sale = Sale.of(stage);
    Exclusion exclusion = Exclusion.of(sale.holds());
    long nextAt =
        sale.holds().stream()
            .mapToLong(Hold::enteredNanos)
            .filter(entered -> entered > killedAt)
            .min()
            .orElseThrow(() -> new NoProgressException("nobody got in after worker 1 was killed"));
    long gap = nextAt - killedAt;
    Duration lease = stage.settings().lease();
    boolean inTime = gap <= lease.plus(MARGIN).toNanos();
    boolean exact = sale.lostUpdates() == 0;

    List<Metric> figures = new ArrayList<>();
    figures.add(Metric.millis("leaseMillis", "lease", lease));
    figures.add(Metric.millis("nextInAfterMillis", "next one in after", gap));
    figures.addAll(sale.countsAside());
    figures.addAll(exclusion.figures());
    String explanation =
        "Worker 1 died inside; the next one was in %s later, when its lease of %s had run out. %s"
            .formatted(
                Metric.millisText(gap),
                Metric.millisText(lease.toNanos()),
                exact && exclusion.holds()
                    ? "All %d completed sales are in the stock.".formatted(sale.sold())
                    : "%d updates were lost. %s"
                        .formatted(sale.lostUpdates(), exclusion.explanation()));
    return new Outcome(
        inTime && exact && exclusion.holds(),
        explanation,
        figures,
        List.of(
            new Timeline(
                new Frame(
                    killedAt - AROUND.toNanos(), nextAt + AROUND.toNanos(), killedAt, "the kill"),
                sale.holds(),
                stage.recording().marks(),
                List.of(
                    new Span(
                        FaultedWorker.WORKER,
                        last.thread(),
                        "dead, its lease runs out",
                        killedAt,
                        nextAt)),
                stage.settings().processes(),
                stage.settings().threads(),
                "From shortly before the kill to shortly after the next one is in.")));
  }
}
