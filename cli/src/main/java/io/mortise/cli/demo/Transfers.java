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
  /** For each of two locks that are taken one by one. */
  static final Duration WAIT_LIMIT = Duration.ofMillis(100);

  /** How often each thread tries it one by one: most tries cost the limit. */
  static final int TRIES = 6;

  private static final String FROM = " from ";
  private static final int CUSTOMERS_PER_TRANSFER = 3;

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
        + " so each wait has a limit of %d ms, and whoever has waited for that long gives up."
            .formatted(WAIT_LIMIT.toMillis())
        + " Then they take a MultiLock of the same two, also the payer's first: it takes them in"
        + " one order, whatever the order in which they are given, and nobody needs a limit.";
  }

  @Override
  public long expected(DemoSettings settings) {
    return settings.customers() / CUSTOMERS_PER_TRANSFER;
  }

  static String role(LockOrder pairing, Account payer) {
    return pairing + FROM + payer.name();
  }

  /** How often a thread with so many customers pays, with both locks as one. */
  static int transfers(int customers) {
    return Math.max(1, customers / CUSTOMERS_PER_TRANSFER);
  }

  /** Half of the processes pay from the one, half from the other. */
  static Account payer(int worker) {
    return worker % 2 == 0 ? Account.A : Account.B;
  }

  @Override
  public void warmUp(WorkerThreadContext till) {
    String name = till.job().lockName() + ":warm-up-of-" + till.locks().id();
    new MultiLock(
            new RedisLock(till.locks(), name + "-1"), new RedisLock(till.locks(), name + "-2"))
        .tryAcquire()
        .ifPresent(Lease::close);
  }

  @Override
  public void work(WorkerThreadContext till) throws InterruptedException {
    String[] role = till.job().role().split(FROM, 2);
    Account payer = Account.valueOf(role[1]);
    DistributedLock first = lock(till, payer);
    DistributedLock second = lock(till, payer.other());
    if (LockOrder.valueOf(role[0]) == LockOrder.ONE_BY_ONE) {
      for (int i = 0; i < TRIES; i++) {
        till.awaitCustomer();
        payOneByOne(till, payer, first, second);
      }
    } else {
      DistributedLock both = new MultiLock(first, second);
      for (int i = 0; i < transfers(till.customers()); i++) {
        till.awaitCustomer();
        LockedSale.serve(both, visit -> pay(till, payer, visit));
      }
    }
  }

  private static DistributedLock lock(WorkerThreadContext till, Account account) {
    return new RedisLock(till.locks(), Accounts.lockOf(till.job().lockName(), account));
  }

  private static boolean pay(WorkerThreadContext till, Account payer, Entry visit) {
    Accounts accounts = till.accounts();
    move(till, payer, accounts.read(payer));
    till.reportHeld(visit, true);
    return true;
  }

  private static void move(WorkerThreadContext till, Account payer, long balance) {
    Accounts accounts = till.accounts();
    long other = accounts.read(payer.other());
    till.compute();
    accounts.write(payer, balance - 1);
    accounts.write(payer.other(), other + 1);
  }

  private static void payOneByOne(
      WorkerThreadContext till, Account payer, DistributedLock first, DistributedLock second)
      throws InterruptedException {
    long asked = System.nanoTime();
    if (!first.tryLock(WAIT_LIMIT)) {
      return;
    }
    long hasFirst = System.nanoTime();
    try {
      long balance = till.accounts().read(payer);
      if (!second.tryLock(WAIT_LIMIT)) {
        till.report(
            EventType.GAVE_UP,
            0,
            "has the lock of %s, and did not get that of %s in time"
                .formatted(payer, payer.other()));
        return;
      }
      long hasBoth = System.nanoTime();
      try {
        move(till, payer, balance);
        till.reportHeld(new Entry(0, asked, hasBoth), true);
      } finally {
        till.reportKept(payer.other(), hasBoth);
        second.unlock();
      }
    } finally {
      till.reportKept(payer, hasFirst);
      first.unlock();
    }
  }

  @Override
  public Outcome play(ChapterRun stage) throws InterruptedException {
    TransfersRun oneByOne = TransfersRun.play(stage, LockOrder.ONE_BY_ONE);
    TransfersRun together = TransfersRun.play(stage, LockOrder.TOGETHER);
    return outcome(oneByOne, together);
  }

  /** With the locks one by one nothing may be lost either; only that it takes so long. */
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
        Metric.count("gaveUpInHand", "gave up with one in hand", oneByOne.gaveUpInHand()).aside());
    figures.addAll(exclusion.figures());
    String contrast =
        oneByOne.gaveUp() > 0
            ? "of %d tries one by one, %d were given up, %d of them with one lock in hand"
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
