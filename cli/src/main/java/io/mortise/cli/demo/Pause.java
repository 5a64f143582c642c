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

/** A holder is suspended for longer than its lease, resumes inside, and can do no harm. */
final class Pause implements Chapter {
  /** The time in which a resumed worker is notified, on a busy machine. */
  private static final Duration NOTIFIED_WITHIN = Duration.ofSeconds(2);

  /** The holds of the others before it is resumed, so that it resumes among them. */
  private static final int OTHERS_INSIDE = 10;

  /** The time before and after that the drawing shows. */
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
  public void work(WorkerThreadContext context) throws InterruptedException {
    RedisLock lock = new RedisLock(context.locks(), context.job().lockName());
    try {
      LockedSale.run(context, lock, entry -> sell(context, lock, entry));
    } catch (LeaseLostException e) {
      context.report(
          EventType.NOTIFIED, e.loss().fencingToken(), "unlock throws: " + e.getMessage());
    }
  }

  /** As every sale, but each write has its token, and the stock refuses an old one. */
  private static boolean sell(WorkerThreadContext context, RedisLock lock, Entry entry)
      throws InterruptedException {
    Stock stock = context.stock();
    int left = stock.read();
    if (left <= 0) {
      context.reportHeld(entry, false);
      return false;
    }
    context.compute();
    if (FaultedWorker.isDue(context, left)) {
      lock.lease()
          .onLost(
              loss ->
                  context.report(
                      EventType.NOTIFIED, entry.token(), "the lease says: " + loss.detail()));
      context.stayInside(entry);
    }
    if (!stock.write(left - 1, entry.token())) {
      context.report(
          EventType.REFUSED,
          entry.token(),
          "write of %d with token %d refused: token %d has been seen"
              .formatted(left - 1, entry.token(), stock.newestToken()));
      return false;
    }
    context.reportHeld(entry, true);
    return true;
  }

  @Override
  public Outcome play(ChapterRun run) throws InterruptedException {
    run.open(FaultedWorker.roles(run.settings().processes()), FaultedWorker.WORKER);
    Entered sleeper = run.awaitStaying(FaultedWorker.WORKER);
    long pausedAt;
    long wokenAt;
    try (Suspension suspension = run.faults().suspend(FaultedWorker.WORKER)) {
      pausedAt = System.nanoTime();
      run.progress().say("a holder sleeps");
      int before = run.recording().served();
      run.await(
          "others to enter",
          () ->
              run.recording().served() >= before + OTHERS_INSIDE
                  || run.othersFinished(FaultedWorker.WORKER));
      wokenAt = run.faults().wake(FaultedWorker.WORKER, suspension);
    } catch (IOException e) {
      throw new DemoFailure("a worker cannot be woken: " + e.getMessage(), e);
    }
    run.progress().say("it woke up");
    run.awaitEnd();
    return new Course(run, sleeper, pausedAt, wokenAt).outcome();
  }

  /** The course of the chapter, after its end. */
  private record Course(ChapterRun run, Entered sleeper, long pausedAt, long wokenAt) {

    Outcome outcome() {
      Recording recording = run.recording();
      Sale sale = Sale.of(run);
      Exclusion exclusion = Exclusion.of(sale.holds());
      Hold next = next(sale);
      OptionalLong notifiedAt = recording.timeOf(EventType.NOTIFIED);
      long notifiedAfter = notifiedAt.isPresent() ? notifiedAt.getAsLong() - wokenAt : -1;
      int refused = recording.count(EventType.REFUSED);
      boolean notified = notifiedAt.isPresent() && notifiedAfter <= NOTIFIED_WITHIN.toNanos();
      boolean fenced = refused == 1 && sleeper.token() < next.token();
      boolean ok = notified && fenced && sale.lostUpdates() == 0 && exclusion.holds();

      List<Metric> figures = new ArrayList<>();
      figures.add(Metric.millis("leaseMillis", "lease", run.settings().lease()));
      figures.add(Metric.millis("pausedMillis", "paused for", wokenAt - pausedAt));
      figures.add(
          Metric.millis("nextInAfterMillis", "next one in after", next.enteredNanos() - pausedAt));
      figures.add(Metric.millis("toldAfterMillis", "notified after", notifiedAfter));
      figures.add(Metric.count("refusedWrites", "refused writes", refused));
      figures.add(Metric.count("pausedToken", "its token", sleeper.token()).aside());
      figures.add(Metric.count("nextToken", "the next one's token", next.token()).aside());
      figures.addAll(sale.countsAside());
      figures.addAll(exclusion.figures());
      String explanation =
          ok
              ? "Worker 1 slept through its lease. It was notified %s after it woke up, and its late write was refused: the stock had seen a larger token."
                  .formatted(Metric.millisText(notifiedAfter))
              : "Notified: %s. Writes refused: %d, where 1 was expected. Lost updates: %d. %s"
                  .formatted(
                      notifiedAt.isPresent()
                          ? "after " + Metric.millisText(notifiedAfter)
                          : "never",
                      refused,
                      sale.lostUpdates(),
                      exclusion.explanation());
      return new Outcome(ok, explanation, figures, timelines());
    }

    private Hold next(Sale sale) {
      return sale.holds().stream()
          .filter(hold -> hold.worker() != FaultedWorker.WORKER && hold.enteredNanos() > pausedAt)
          .findFirst()
          .orElseThrow(() -> new NoProgressException("no thread entered while worker 1 slept"));
    }

    private List<Timeline> timelines() {
      long last = run.recording().marks().stream().mapToLong(Mark::atNanos).max().orElse(wokenAt);
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
          run.recording().holds(),
          run.recording().marks(),
          List.of(new Span(FaultedWorker.WORKER, sleeper.thread(), "asleep", pausedAt, wokenAt)),
          run.settings().processes(),
          run.settings().threads(),
          caption);
    }
  }
}
