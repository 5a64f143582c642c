package io.mortise.cli.demo;

import io.mortise.cli.worker.Accounts;
import io.mortise.cli.worker.Accounts.Account;
import io.mortise.cli.worker.Entry;
import io.mortise.cli.worker.EventType;
import io.mortise.cli.worker.WorkerThreadContext;
import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.RedisLock;
import io.mortise.multilock.MultiLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Transfers between two accounts, from both sides at the same time: with a lock on each account,
 * taken one after the other, for contrast; then with both as one.
 */
final class Transfers implements Chapter {
  /** The limit of each wait, where two locks are taken one by one. */
  private static final Duration WAIT_LIMIT = Duration.ofMillis(100);

  @Override
  public String name() {
    return "transfers";
  }

  @Override
  public String title() {
    return "With MultiLock";
  }

  @Override
  public String story() {
    return "Two accounts are a number in Redis and a lock each. Every second process moves money from"
        + " A to B, the others from B to A: read both, compute, write both. First they take the"
        + " two locks one by one, the payer's first: each side soon has one and waits for the other,"
        + " so each wait has a limit of %d ms, and a thread that has waited for that long gives up."
            .formatted(WAIT_LIMIT.toMillis())
        + " Then they take a MultiLock of the same two, also the payer's first: it takes them in"
        + " one order, whatever the order in which they are given, and no wait needs a limit.";
  }

  @Override
  public long expected(DemoSettings settings) {
    return TransfersRun.transfers(settings.customers());
  }

  @Override
  public void warmUp(WorkerThreadContext context) {
    String name = context.job().lockName() + ":warm-up-of-" + context.locks().id();
    new MultiLock(
            new RedisLock(context.locks(), name + "-1"),
            new RedisLock(context.locks(), name + "-2"))
        .tryAcquire()
        .ifPresent(Lease::close);
  }

  @Override
  public void work(WorkerThreadContext context) throws InterruptedException {
    String[] role = context.job().role().split(TransfersRun.FROM, 2);
    Account payer = Account.valueOf(role[1]);
    DistributedLock first = lock(context, payer);
    DistributedLock second = lock(context, payer.other());
    if (LockOrder.valueOf(role[0]) == LockOrder.ONE_BY_ONE) {
      for (int i = 0; i < TransfersRun.TRIES; i++) {
        context.awaitCustomer();
        payOneByOne(context, payer, first, second);
      }
    } else {
      DistributedLock both = new MultiLock(first, second);
      for (int i = 0; i < TransfersRun.transfers(context.customers()); i++) {
        context.awaitCustomer();
        LockedSale.serve(both, entry -> pay(context, payer, entry));
      }
    }
  }

  private static DistributedLock lock(WorkerThreadContext context, Account account) {
    return new RedisLock(context.locks(), Accounts.lockOf(context.job().lockName(), account));
  }

  private static boolean pay(WorkerThreadContext context, Account payer, Entry entry) {
    Accounts accounts = context.accounts();
    move(context, payer, accounts.read(payer));
    context.reportHeld(entry, true);
    return true;
  }

  private static void move(WorkerThreadContext context, Account payer, long balance) {
    Accounts accounts = context.accounts();
    long other = accounts.read(payer.other());
    context.compute();
    accounts.write(payer, balance - 1);
    accounts.write(payer.other(), other + 1);
  }

  private static void payOneByOne(
      WorkerThreadContext context, Account payer, DistributedLock first, DistributedLock second)
      throws InterruptedException {
    long asked = System.nanoTime();
    if (!first.tryLock(WAIT_LIMIT)) {
      return;
    }
    long hasFirst = System.nanoTime();
    try {
      long balance = context.accounts().read(payer);
      if (!second.tryLock(WAIT_LIMIT)) {
        context.report(
            EventType.GAVE_UP,
            0,
            "has the lock of %s, and did not get that of %s in time"
                .formatted(payer, payer.other()));
        return;
      }
      long hasBoth = System.nanoTime();
      try {
        move(context, payer, balance);
        context.reportHeld(new Entry(0, asked, hasBoth), true);
      } finally {
        context.reportKept(payer.other(), hasBoth);
        second.unlock();
      }
    } finally {
      context.reportKept(payer, hasFirst);
      first.unlock();
    }
  }

  @Override
  public Outcome play(ChapterRun run) throws InterruptedException {
    TransfersRun oneByOne = TransfersRun.play(run, LockOrder.ONE_BY_ONE);
    TransfersRun together = TransfersRun.play(run, LockOrder.TOGETHER);
    return outcome(oneByOne, together);
  }

  /** With the locks one by one nothing may be lost either; it only takes longer. */
  static Outcome outcome(TransfersRun oneByOne, TransfersRun together) {
    Exclusion exclusion = Exclusion.of(together.holds());
    boolean ok =
        together.isExact()
            && oneByOne.isExact()
            && exclusion.holds()
            && Exclusion.of(oneByOne.holds()).overlaps() == 0
            && together.gaveUp() == 0
            && together.isBothWays();
    List<Metric> figures = new ArrayList<>(oneByOne.figures());
    figures.addAll(together.figures());
    figures.add(
        Metric.millis("medianWaitMillis", "median wait", together.waits().atMostNanos(0.5)));
    figures.add(
        Metric.millis("longestWaitMillis", "longest wait", together.waits().atMostNanos(1)));
    figures.add(Metric.count("totalBefore", "total before", TransfersRun.TOTAL));
    figures.add(Metric.count("totalAfter", "total after", together.total()));
    figures.add(
        Metric.count("gaveUpInHand", "gave up while holding one", oneByOne.gaveUpInHand()).aside());
    figures.addAll(exclusion.figures());
    String contrast =
        oneByOne.gaveUp() > 0
            ? "of %d tries one by one, %d were given up, %d of them while holding one lock"
                .formatted(oneByOne.tries(), oneByOne.gaveUp(), oneByOne.gaveUpInHand())
            : "by chance none of %d tries one by one was given up either, so this run proves little"
                .formatted(oneByOne.tries());
    String explanation =
        ok
            ? "All %d transfers of both directions went through, %d a second, and the total is what it was; %s."
                .formatted(together.holds().size(), together.perSecond(), contrast)
            : "MultiLock: %s %s One by one: %s"
                .formatted(together.complaint(), exclusion.explanation(), oneByOne.complaint());
    return new Outcome(ok, explanation, figures, List.of(oneByOne.excerpt(), together.excerpt()));
  }
}
