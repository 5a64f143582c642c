package io.mortise.cli.demo;

import io.mortise.cli.worker.WorkerThreadContext;
import io.mortise.core.RedisLock;
import java.util.ArrayList;
import java.util.List;

/** The same sale under a {@link RedisLock}. */
final class WithRedisLock implements Chapter {

  @Override
  public String name() {
    return "redis-lock";
  }

  @Override
  public String title() {
    return "With RedisLock";
  }

  @Override
  public String story() {
    return "The same threads in the same processes take a RedisLock around reading and writing:"
        + " one at a time, each with a fencing token larger than the last.";
  }

  @Override
  public void work(WorkerThreadContext context) throws InterruptedException {
    LockedSale.run(context, new RedisLock(context.locks(), context.job().lockName()));
  }

  @Override
  public Outcome play(ChapterRun run) throws InterruptedException {
    run.open("seller");
    run.awaitEnd();
    Sale sale = Sale.of(run);
    Exclusion exclusion = Exclusion.of(sale.holds());
    List<Metric> figures = new ArrayList<>(sale.counts());
    figures.addAll(exclusion.figures());
    figures.addAll(sale.times());
    boolean exact = sale.sold() == sale.stock() && sale.left() == 0;
    String explanation =
        exact && exclusion.holds()
            ? "Exactly %d were sold, one at a time, with %d fencing tokens that only ever grew."
                .formatted(sale.sold(), sale.holds().size())
            : "%d were sold of %d, %d are left in Redis. %s"
                .formatted(sale.sold(), sale.stock(), sale.left(), exclusion.explanation());
    return new Outcome(
        exact && exclusion.holds(),
        explanation,
        figures,
        List.of(TimelineWindow.of(run, "One bar at any time.")));
  }
}
