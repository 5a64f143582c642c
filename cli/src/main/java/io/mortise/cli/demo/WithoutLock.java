package io.mortise.cli.demo;

import io.mortise.cli.timeline.Overlaps;
import io.mortise.cli.timeline.Overlaps.Stretch;
import io.mortise.cli.worker.Entry;
import io.mortise.cli.worker.WorkerThreadContext;
import java.util.ArrayList;
import java.util.List;

/** The sale without a lock, and what goes wrong. */
final class WithoutLock implements Chapter {

  @Override
  public String name() {
    return "without-lock";
  }

  @Override
  public String title() {
    return "Without a lock";
  }

  @Override
  public String story() {
    return "Each thread reads the stock, computes, and writes it back. Between the two, others do"
        + " the same: they overwrite each other, and the same article is sold again.";
  }

  @Override
  public void work(WorkerThreadContext context) {
    boolean more = true;
    for (int i = 0; i < context.customers() && more; i++) {
      context.awaitCustomer();
      long now = System.nanoTime();
      more = LockedSale.sell(context, new Entry(0, now, now));
    }
  }

  @Override
  public Outcome play(ChapterRun run) throws InterruptedException {
    run.open("seller");
    run.awaitEnd();
    Sale sale = Sale.of(run);
    int mostInside =
        Overlaps.stretches(sale.holds()).stream().mapToInt(Stretch::inside).max().orElse(0);
    List<Metric> figures = new ArrayList<>(sale.counts());
    figures.add(Metric.count("mostInside", "most inside at once", mostInside));
    boolean shown = sale.oversold() > 0;
    String explanation =
        shown
            ? "%d were sold although there were only %d: up to %d threads were inside at the same time."
                .formatted(sale.sold(), sale.stock(), mostInside)
            : "Nothing was oversold this time, by chance: try more --stock or more --threads.";
    return new Outcome(
        shown,
        explanation,
        figures,
        List.of(
            TimelineWindow.of(
                run, "Bars above each other: several threads inside at the same time.")));
  }
}
