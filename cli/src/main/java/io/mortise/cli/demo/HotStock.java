package io.mortise.cli.demo;

import io.mortise.cli.worker.Entry;
import io.mortise.cli.worker.SplitStock;
import io.mortise.cli.worker.SplitStock.Sale;
import io.mortise.cli.worker.WorkerThreadContext;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.segmentedlock.SegmentLease;
import io.mortise.segmentedlock.SegmentedLock;
import io.mortise.testkit.HoldLog.Mode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The same stock sold twice: under one lock, and in five segments with a lock each. */
final class HotStock implements Chapter {
  /** Longer than any wait in this sale: an empty answer that comes sooner means sold out. */
  private static final Duration WAIT = Duration.ofSeconds(10);

  /** So that the first lock has no disadvantage. */
  private static final int WARM_UPS = 50;

  @Override
  public String name() {
    return "segments";
  }

  @Override
  public String title() {
    return "With SegmentedLock";
  }

  @Override
  public String story() {
    int parts = StockDivision.SEGMENTS.parts();
    return "There are %d of one hot article, whatever --stock says. Each sale takes a payment of 1 to"
            .formatted(HotStockRun.ARTICLES)
        + " 2 ms under the lock. First the lock is one RedisLock: one sale at a time. Then it is a"
        + " SegmentedLock of %d segments, each with %d articles and a lock: up to %d sales at a time."
            .formatted(parts, HotStockRun.ARTICLES / parts, parts)
        + " A thread takes any segment that is free. The one that sells the last article of a"
        + " segment marks it as exhausted; when all are, the lock answers at once that nothing is"
        + " left. Each sale is an entry of a list in Redis: which article, with which fencing token,"
        + " and from when to when. The lists are judged.";
  }

  @Override
  public long expected(DemoSettings settings) {
    return (long) StockDivision.values().length * HotStockRun.ARTICLES;
  }

  @Override
  public void warmUp(WorkerThreadContext context) {
    String name = context.job().lockName() + ":warm-up-of-" + context.locks().id();
    RedisLock whole = new RedisLock(context.locks(), name);
    SegmentedLock segments = segments(context.locks(), name);
    for (int i = 0; i < WARM_UPS; i++) {
      whole.tryAcquire().ifPresent(Lease::close);
      segments.tryAcquireAny().ifPresent(Lease::close);
    }
  }

  private static SegmentedLock segments(LockClient client, String name) {
    return new SegmentedLock(client, name, StockDivision.SEGMENTS.parts());
  }

  @Override
  public void work(WorkerThreadContext context) throws InterruptedException {
    String name = context.job().lockName();
    switch (StockDivision.valueOf(context.job().role())) {
      case WHOLE -> sellWhole(context, new RedisLock(context.locks(), name));
      case SEGMENTS -> sellSegments(context, segments(context.locks(), name));
    }
  }

  private static void sellWhole(WorkerThreadContext context, RedisLock lock)
      throws InterruptedException {
    boolean more = true;
    while (more) {
      context.awaitCustomer();
      more = LockedSale.serve(lock, entry -> sell(context, 0, entry) > 0);
    }
  }

  private static void sellSegments(WorkerThreadContext context, SegmentedLock lock)
      throws InterruptedException {
    boolean more = true;
    while (more) {
      context.awaitCustomer();
      long asked = System.nanoTime();
      Optional<SegmentLease> held = lock.acquireAny(WAIT);
      held.ifPresent(segment -> sellOf(context, lock, segment, asked));
      more = held.isPresent();
    }
  }

  private static void sellOf(
      WorkerThreadContext context, SegmentedLock lock, SegmentLease held, long asked) {
    try (held) {
      Entry entry = new Entry(Mode.SHARED, held.fencingToken(), asked, System.nanoTime());
      if (sell(context, held.index(), entry) == 0) {
        lock.exhausted(held.index());
      }
    }
  }

  /** Sells one article of that part, if there is one; returns how many are left. */
  private static int sell(WorkerThreadContext context, int part, Entry entry) {
    SplitStock stock = context.splitStock();
    int before = stock.read(part);
    if (before > 0) {
      context.awaitPayment();
      stock.write(part, before - 1);
      long left = System.nanoTime();
      stock.add(
          new Sale(part, before, context.thread(), entry.token(), entry.enteredNanos(), left));
    }
    context.reportHeld(entry, before > 0);
    return Math.max(0, before - 1);
  }

  @Override
  public Outcome play(ChapterRun run) throws InterruptedException {
    HotStockRun whole = HotStockRun.play(run, StockDivision.WHOLE);
    try {
      return outcome(whole, HotStockRun.play(run, StockDivision.SEGMENTS));
    } finally {
      removeMarks(run);
    }
  }

  /** The marks of exhausted segments have no end of their own. */
  private static void removeMarks(ChapterRun run) {
    try (LockClient client = run.connect()) {
      segments(client, run.lockName()).resetAll();
    }
  }

  static Outcome outcome(HotStockRun whole, HotStockRun segments) {
    boolean ok = whole.isSafe() && segments.isSafe() && segments.mostInside() > 1;
    List<Metric> figures = new ArrayList<>(whole.figures());
    figures.addAll(segments.figures());
    String explanation =
        ok
            ? "Each sold exactly %d. One at a time that were %d sales a second, with up to %d inside %d: %.1f times as many."
                .formatted(
                    segments.sold(),
                    whole.perSecond(),
                    segments.mostInside(),
                    segments.perSecond(),
                    (double) segments.perSecond() / Math.max(1, whole.perSecond()))
            : "%s %s".formatted(whole.complaint(), segments.complaint());
    return new Outcome(ok, explanation, figures, List.of(whole.excerpt(), segments.excerpt()));
  }
}
