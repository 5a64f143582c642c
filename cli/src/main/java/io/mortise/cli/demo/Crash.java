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

/** A holder dies: the others enter when its lease has run out, and the stock stays correct. */
final class Crash implements Chapter {
  /** The time for the wake-up and two round trips, on a busy machine. */
  private static final Duration MARGIN = Duration.ofSeconds(1);

  /** The time before and after that the drawing shows. */
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
  public void work(WorkerThreadContext context) throws InterruptedException {
    RedisLock lock = new RedisLock(context.locks(), context.job().lockName());
    LockedSale.run(
        context,
        lock,
        entry -> {
          if (FaultedWorker.isDue(context, context.stock().read())) {
            context.stayInside(entry);
          }
          return LockedSale.sell(context, entry);
        });
  }

  @Override
  public Outcome play(ChapterRun run) throws InterruptedException {
    run.open(FaultedWorker.roles(run.settings().processes()), FaultedWorker.WORKER);
    Entered last = run.awaitStaying(FaultedWorker.WORKER);
    long killedAt = run.faults().kill(FaultedWorker.WORKER);
    run.progress().say("a holder was killed");
    run.awaitEnd();

    Sale sale = Sale.of(run);
    Exclusion exclusion = Exclusion.of(sale.holds());
    long nextAt =
        sale.holds().stream()
            .mapToLong(Hold::enteredNanos)
            .filter(entered -> entered > killedAt)
            .min()
            .orElseThrow(
                () -> new NoProgressException("no thread entered after worker 1 was killed"));
    long gap = nextAt - killedAt;
    Duration lease = run.settings().lease();
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
                run.recording().marks(),
                List.of(
                    new Span(
                        FaultedWorker.WORKER,
                        last.thread(),
                        "dead, its lease runs out",
                        killedAt,
                        nextAt)),
                run.settings().processes(),
                run.settings().threads(),
                "From shortly before the kill to shortly after the next one is in.")));
  }
}
