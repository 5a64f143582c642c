package io.mortise.cli.demo;

import io.mortise.cli.timeline.Hold;
import io.mortise.cli.timeline.Span;
import io.mortise.cli.timeline.Timeline;
import io.mortise.cli.timeline.Timeline.Frame;
import io.mortise.cli.worker.Note;
import io.mortise.cli.worker.Stock;
import io.mortise.cli.worker.Suspension;
import io.mortise.cli.worker.Till;
import io.mortise.cli.worker.Visit;
import io.mortise.cli.worker.WorkerEvent.Entered;
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
  private static final Duration TOLD_WITHIN = Duration.ofSeconds(1);

  /** How many others are to be in before the sleeper is woken: it wakes up in the middle. */
  private static final int OTHERS_INSIDE = 10;

  /** How much of the time before and after is to be seen. */
  private static final Duration AROUND = Duration.ofMillis(150);

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
  public void work(Till till) throws InterruptedException {
    RedisLock lock = new RedisLock(till.locks(), till.job().lockName());
    try {
      LockedSale.run(till, lock, visit -> sell(till, lock, visit));
    } catch (LeaseLostException e) {
      till.report(Note.TOLD, e.loss().fencingToken(), "unlock says: " + e.getMessage());
    }
  }

  /** As every sale, but each write brings its token, and the stock refuses an old one. */
  private static boolean sell(Till till, RedisLock lock, Visit visit) throws InterruptedException {
    Stock stock = till.stock();
    int left = stock.read();
    if (left <= 0) {
      till.reportHeld(visit, false);
      return false;
    }
    till.compute();
    if (Victim.isDue(till, left)) {
      lock.lease()
          .onLost(
              loss ->
                  till.report(Note.TOLD, visit.token(), "the lease says: " + loss.detail()));
      till.stayInside(visit);
    }
    if (!stock.write(left - 1, visit.token())) {
      till.report(
          Note.REFUSED,
          visit.token(),
          "write of %d with token %d refused: token %d has been seen"
              .formatted(left - 1, visit.token(), stock.newestToken()));
      return false;
    }
    till.reportHeld(visit, true);
    return true;
  }

  @Override
  public Outcome play(Stage stage) throws InterruptedException {
    stage.open(Victim.roles(stage.settings().processes()));
    Entered sleeper = stage.awaitStaying(Victim.WORKER);
    long pausedAt;
    long wokenAt;
    try (Suspension suspension = stage.suspend(Victim.WORKER)) {
      pausedAt = System.nanoTime();
      stage.progress().say("a holder sleeps");
      int before = stage.recording().served();
      stage.await(
          "others to get in", () -> stage.recording().served() >= before + OTHERS_INSIDE);
      wokenAt = stage.wake(Victim.WORKER, suspension);
    } catch (IOException e) {
      throw new DemoFailure("a worker cannot be woken: " + e.getMessage(), e);
    }
    stage.progress().say("it woke up");
    stage.awaitEnd();
    return outcome(stage, sleeper, pausedAt, wokenAt);
  }

  private static Outcome outcome(Stage stage, Entered sleeper, long pausedAt, long wokenAt) {
    Recording recording = stage.recording();
    Sale sale = Sale.of(stage);
    Exclusion exclusion = Exclusion.of(sale.holds());
    Hold next =
        sale.holds().stream()
            .filter(hold -> hold.enteredNanos() > pausedAt)
            .findFirst()
            .orElseThrow(() -> new Standstill("nobody got in while worker 1 slept"));
    OptionalLong toldAt = recording.timeOf(Note.TOLD);
    long told = toldAt.orElse(Long.MAX_VALUE) - wokenAt;
    long newestToken = stage.stock().newestToken();
    int refused = recording.count(Note.REFUSED);
    boolean inTime = toldAt.isPresent() && told <= TOLD_WITHIN.toNanos();
    boolean ok =
        inTime
            && refused == 1
            && sleeper.token() < next.token()
            && sale.lostUpdates() == 0
            && exclusion.holds();
    List<Figure> figures = new ArrayList<>();
    figures.addAll(
        List.of(
            Figure.millis("leaseMillis", "lease", stage.settings().lease()),
            Figure.millis("pausedMillis", "paused for", wokenAt - pausedAt),
            Figure.millis("nextInAfterMillis", "next one in after", next.enteredNanos() - pausedAt),
            Figure.millis("toldAfterMillis", "told after", toldAt.isPresent() ? told : -1),
            Figure.count("refusedWrites", "refused writes", refused),
            Figure.count("sleeperToken", "its token", sleeper.token()).aside(),
            Figure.count("nextToken", "the next one's token", next.token()).aside(),
            Figure.count("newestToken", "newest token seen", newestToken).aside()));
    figures.addAll(sale.counts());
    figures.addAll(exclusion.figures());
    String explanation =
        ok
            ? "Worker 1 slept through its lease. Awake, it was told after %s, and its late write was refused: its token is older by %d."
                .formatted(
                    Figure.millis("", "", told).text(),
                    newestToken - sleeper.token())
            : "Told: %s. Writes refused: %d, 1 expected. Lost updates: %d. %s"
                .formatted(
                    toldAt.isPresent() ? "after " + Figure.millis("", "", told).text() : "never",
                    refused,
                    sale.lostUpdates(),
                    exclusion.explanation());
    long end =
        Math.max(
            next.enteredNanos(),
            recording.marks().stream().mapToLong(mark -> mark.atNanos()).max().orElse(wokenAt));
    Timeline timeline =
        new Timeline(
            new Frame(pausedAt - AROUND.toNanos(), end + AROUND.toNanos(), pausedAt, "the pause"),
            sale.holds(),
            recording.marks(),
            List.of(new Span(Victim.WORKER, sleeper.thread(), "asleep", pausedAt, wokenAt)),
            stage.settings().processes(),
            stage.settings().threads(),
            "From shortly before the pause to shortly after the refused write.");
    return new Outcome(ok, explanation, figures, timeline);
  }
}
