package io.mortise.cli.demo;

import io.mortise.cli.timeline.Hold;
import io.mortise.cli.timeline.Mark;
import io.mortise.cli.timeline.Span;
import io.mortise.cli.timeline.Timeline;
import io.mortise.cli.timeline.Timeline.Frame;
import io.mortise.cli.worker.Entry;
import io.mortise.cli.worker.EventType;
import io.mortise.cli.worker.Stock;
import io.mortise.cli.worker.Suspension;
import io.mortise.cli.worker.WorkerEvent.Entered;
import io.mortise.cli.worker.WorkerThreadContext;
import io.mortise.core.LeaseLostException;
import io.mortise.core.RedisLock;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** A holder sleeps through its lease, wakes up inside, and can do no harm. */
final class Pause implements Chapter {
  /** For a thread that has just been woken, on a machine that is busy. */
  private static final Duration TOLD_WITHIN = Duration.ofSeconds(2);

  /** How many visits the others are to make, if they can, before it is woken: in their midst. */
  private static final int OTHERS_INSIDE = 10;

  /** How much of the time before and after is to be seen. */
  private static final Duration AROUND = Duration.ofMillis(150);

  private static final Duration AROUND_WAKING = Duration.ofMillis(25);

  @Override
  public String name() {
    return "pause";
  }

  @Override
  public String title() {
    return "A holder is paused";
  }

  @Override
  public String story() {
    return "A worker process is suspended (SIGSTOP) inside the critical section, for longer than its"
        + " lease: a long garbage collection, a virtual machine that moves. Others get in and"
        + " write. Then it runs again (SIGCONT), and writes what it had computed before.";
  }

  @Override
  public void work(WorkerThreadContext till) throws InterruptedException {
    RedisLock lock = new RedisLock(till.locks(), till.job().lockName());
    try {
      LockedSale.run(till, lock, visit -> sell(till, lock, visit));
    } catch (LeaseLostException e) {
      till.report(EventType.TOLD, e.loss().fencingToken(), "unlock says: " + e.getMessage());
    }
  }

  /** As every sale, but each write brings its token, and the stock refuses an old one. */
  private static boolean sell(WorkerThreadContext till, RedisLock lock, Entry visit)
      throws InterruptedException {
    Stock stock = till.stock();
    int left = stock.read();
    if (left <= 0) {
      till.reportHeld(visit, false);
      return false;
    }
    till.compute();
    if (FaultedWorker.isDue(till, left)) {
      lock.lease()
          .onLost(
              loss ->
                  till.report(EventType.TOLD, visit.token(), "the lease says: " + loss.detail()));
      till.stayInside(visit);
    }
    if (!stock.write(left - 1, visit.token())) {
      till.report(
          EventType.REFUSED,
          visit.token(),
          "write of %d with token %d refused: token %d has been seen"
              .formatted(left - 1, visit.token(), stock.newestToken()));
      return false;
    }
    till.reportHeld(visit, true);
    return true;
  }

  @Override
  public Outcome play(ChapterRun stage) throws InterruptedException {
    stage.open(FaultedWorker.roles(stage.settings().processes()), FaultedWorker.WORKER);
    Entered sleeper = stage.awaitStaying(FaultedWorker.WORKER);
    long pausedAt;
    long wokenAt;
    try (Suspension suspension = stage.fate().suspend(FaultedWorker.WORKER)) {
      pausedAt = System.nanoTime();
      stage.progress().say("a holder sleeps");
      int before = stage.recording().served();
      stage.await(
          "others to get in",
          () ->
              stage.recording().served() >= before + OTHERS_INSIDE
                  || stage.othersFinished(FaultedWorker.WORKER));
      wokenAt = stage.fate().wake(FaultedWorker.WORKER, suspension);
    } catch (IOException e) {
      throw new DemoFailure("a worker cannot be woken: " + e.getMessage(), e);
    }
    stage.progress().say("it woke up");
    stage.awaitEnd();
    return new Course(stage, sleeper, pausedAt, wokenAt).outcome();
  }

  /** What happened, when all is over. */
  private record Course(ChapterRun stage, Entered sleeper, long pausedAt, long wokenAt) {

    Outcome outcome() {
      Recording recording = stage.recording();
      Sale sale = Sale.of(stage);
      Exclusion exclusion = Exclusion.of(sale.holds());
      Hold next = next(sale);
      OptionalLong toldAt = recording.timeOf(EventType.TOLD);
      long toldAfter = toldAt.isPresent() ? toldAt.getAsLong() - wokenAt : -1;
      int refused = recording.count(EventType.REFUSED);
      boolean told = toldAt.isPresent() && toldAfter <= TOLD_WITHIN.toNanos();
      boolean fenced = refused == 1 && sleeper.token() < next.token();
      boolean ok = told && fenced && sale.lostUpdates() == 0 && exclusion.holds();

      List<Metric> figures = new ArrayList<>();
      figures.add(Metric.millis("leaseMillis", "lease", stage.settings().lease()));
      figures.add(Metric.millis("pausedMillis", "paused for", wokenAt - pausedAt));
      figures.add(
          Metric.millis("nextInAfterMillis", "next one in after", next.enteredNanos() - pausedAt));
      figures.add(Metric.millis("toldAfterMillis", "told after", toldAfter));
      figures.add(Metric.count("refusedWrites", "refused writes", refused));
      figures.add(Metric.count("pausedToken", "its token", sleeper.token()).aside());
      figures.add(Metric.count("nextToken", "the next one's token", next.token()).aside());
      figures.addAll(sale.countsAside());
      figures.addAll(exclusion.figures());
      String explanation =
          ok
              ? "Worker 1 slept through its lease. It was told %s after it woke up, and its late write was refused: the stock had seen a larger token."
                  .formatted(Metric.millisText(toldAfter))
              : "Told: %s. Writes refused: %d, where 1 was expected. Lost updates: %d. %s"
                  .formatted(
                      toldAt.isPresent() ? "after " + Metric.millisText(toldAfter) : "never",
                      refused,
                      sale.lostUpdates(),
                      exclusion.explanation());
      return new Outcome(ok, explanation, figures, timelines());
    }

    private Hold next(Sale sale) {
      return sale.holds().stream()
          .filter(hold -> hold.worker() != FaultedWorker.WORKER && hold.enteredNanos() > pausedAt)
          .findFirst()
          .orElseThrow(() -> new NoProgressException("nobody got in while worker 1 slept"));
    }

    private List<Timeline> timelines() {
      long last = stage.recording().marks().stream().mapToLong(Mark::atNanos).max().orElse(wokenAt);
      return List.of(
          timeline(
              new Frame(
                  pausedAt - AROUND.toNanos(), last + AROUND.toNanos(), pausedAt, "the pause"),
              "From shortly before the pause to shortly after the refused write."),
          timeline(
              new Frame(
                  wokenAt - AROUND_WAKING.toNanos(),
                  last + AROUND_WAKING.toNanos(),
                  wokenAt,
                  "the wake-up"),
              "The same, around the wake-up."));
    }

    private Timeline timeline(Frame frame, String caption) {
      return new Timeline(
          frame,
          stage.recording().holds(),
          stage.recording().marks(),
          List.of(new Span(FaultedWorker.WORKER, sleeper.thread(), "asleep", pausedAt, wokenAt)),
          stage.settings().processes(),
          stage.settings().threads(),
          caption);
    }
  }
}
