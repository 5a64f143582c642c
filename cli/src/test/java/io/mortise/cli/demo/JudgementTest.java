package io.mortise.cli.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.cli.timeline.Hold;
import io.mortise.cli.timeline.Timeline;
import io.mortise.cli.timeline.Timeline.Frame;
import io.mortise.cli.worker.WorkerThreadContext;
import io.mortise.testkit.HoldLog.Mode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** That a chapter which does not hold is found out: the demo must be able to fail. */
class JudgementTest {
  private static final DemoSettings SETTINGS =
      new DemoSettings(2, 2, 100, 300, Duration.ofSeconds(5));

  /** One test waits for it; on a busy machine the processes of the others are slow to start. */
  private static final Duration NO_PROGRESS = Duration.ofSeconds(15);

  private interface Playing {
    Outcome play(ChapterRun run) throws InterruptedException;
  }

  /** The workers do what the chapter of that name does; the demo's side is another. */
  private record Swapped(String name, Playing playing) implements Chapter {
    @Override
    public String title() {
      return name;
    }

    @Override
    public String story() {
      return "";
    }

    @Override
    public Outcome play(ChapterRun run) throws InterruptedException {
      return playing.play(run);
    }

    @Override
    public void work(WorkerThreadContext context) {
      throw new AssertionError("workers look their side up by its name");
    }
  }

  private static DemoReport play(Chapter... chapters) throws InterruptedException {
    return new Demo(
            "1.2.3", SETTINGS, Optional.empty(), chapter -> new SilentProgress(), NO_PROGRESS)
        .play(List.of(chapters));
  }

  @Test
  void sellingWithoutALockDoesNotPassForSellingWithOne() throws InterruptedException {
    DemoReport report = play(new Swapped("without-lock", new WithRedisLock()::play));
    Outcome outcome = report.chapters().get(0).outcome();
    assertFalse(report.ok());
    assertTrue(
        outcome.explanation().contains("were inside at the same time"), outcome::explanation);
  }

  @Test
  void aLockThatHoldsShowsNoOverselling() throws InterruptedException {
    assertFalse(play(new Swapped("redis-lock", new WithoutLock()::play)).ok());
  }

  @Test
  void aChapterWithoutProgressDoesNotHoldAndTheNextIsPlayed() throws InterruptedException {
    Playing stuck =
        run -> {
          run.open(FaultedWorker.roles(2), FaultedWorker.WORKER);
          run.await("something that never happens", () -> false);
          throw new AssertionError("not reached");
        };
    DemoReport report = play(new Swapped("crash", stuck), new WithRedisLock());
    Outcome outcome = report.chapters().get(0).outcome();
    assertFalse(outcome.ok());
    assertTrue(outcome.explanation().contains("no progress"), outcome::explanation);
    assertTrue(report.chapters().get(1).outcome().ok());
  }

  @Test
  void twoInsideTogetherAreFound() {
    Exclusion exclusion =
        Exclusion.of(List.of(new Hold(0, 0, 1, 0, 10, 20), new Hold(1, 0, 2, 0, 19, 30)));
    assertEquals(new Exclusion(1, 0, 0), exclusion);
    assertFalse(exclusion.holds());
  }

  @Test
  void aTokenThatDoesNotGrowIsFound() {
    Exclusion exclusion =
        Exclusion.of(List.of(new Hold(0, 0, 2, 0, 10, 20), new Hold(1, 0, 2, 0, 20, 30)));
    assertEquals(new Exclusion(0, 1, 0), exclusion);
  }

  @Test
  void lostUpdatesAreSalesThatTheStockDoesNotKnow() {
    Sale sale = new Sale(10, 7, 12, List.of());
    assertEquals(2, sale.oversold());
    assertEquals(9, sale.lostUpdates());
  }

  @Test
  void aLockWithoutAnOrderDoesNotPassForAFairOne() throws InterruptedException {
    Playing bothPlain =
        run ->
            Fairness.outcome(
                FairnessRun.play(run, FairnessLock.PLAIN),
                FairnessRun.play(run, FairnessLock.PLAIN));
    Outcome outcome = play(new Swapped("fairness", bothPlain)).chapters().get(0).outcome();
    assertFalse(outcome.ok());
    assertTrue(
        outcome.explanation().contains("were overtaken at the fair lock"), outcome::explanation);
  }

  @Test
  void readingWithoutALockDoesNotPassForReadingWithOne() throws InterruptedException {
    Playing bothBare =
        run ->
            ReadersAndWriters.outcome(CatalogueRun.play(run, false), CatalogueRun.play(run, false));
    Outcome outcome = play(new Swapped("catalogue", bothBare)).chapters().get(0).outcome();
    assertFalse(outcome.ok());
    assertTrue(
        outcome.explanation().contains("were inside at the same time"), outcome::explanation);
  }

  @Test
  void takingTwoLocksOneByOneDoesNotPassForTakingThemAsOne() throws InterruptedException {
    Playing bothOneByOne =
        run ->
            Transfers.outcome(
                TransfersRun.play(run, LockOrder.ONE_BY_ONE),
                TransfersRun.play(run, LockOrder.ONE_BY_ONE));
    Outcome outcome = play(new Swapped("transfers", bothOneByOne)).chapters().get(0).outcome();
    assertFalse(outcome.ok());
  }

  @Test
  void workersOfWhichHalfDoNotKnowTheSegmentsDoNotPassForASegmentedSale()
      throws InterruptedException {
    Playing mixed =
        run ->
            HotStock.outcome(
                HotStockRun.play(run, StockDivision.WHOLE),
                HotStockRun.play(
                    run,
                    StockDivision.SEGMENTS,
                    worker -> worker == 0 ? StockDivision.WHOLE : StockDivision.SEGMENTS));
    Outcome outcome = play(new Swapped("segments", mixed)).chapters().get(0).outcome();
    assertFalse(outcome.ok());
    assertTrue(outcome.explanation().contains("RedisLock: 500 of 500 sold"), outcome::explanation);
  }

  private static Hold reader(int worker, long from, long to) {
    return new Hold(worker, 0, Mode.SHARED, 1, from, from, to);
  }

  private static CatalogueRun run(int torn, int version, Hold... holds) {
    return new CatalogueRun(
        List.of(holds),
        torn,
        1,
        version,
        new Timeline(
            new Frame(0, 100, 0, "the start"), List.of(), List.of(), List.of(), 3, 1, "None."));
  }

  @Test
  void eachFlawOfAReadWriteLockIsFound() {
    Hold writer = new Hold(2, 0, 1, 0, 20, 30);
    Hold starved = new Hold(2, 0, 1, 0, 20 + Duration.ofSeconds(6).toNanos(), Long.MAX_VALUE);
    CatalogueRun unlocked = run(5, 1, reader(0, 0, 10), writer);
    Hold[] good = {reader(0, 30, 40), reader(1, 35, 45), writer};

    assertTrue(ReadersAndWriters.outcome(unlocked, run(0, 1, good)).ok());
    assertTrue(
        ReadersAndWriters.outcome(run(0, 1, good), run(0, 1, good))
            .explanation()
            .contains("this run proves little"));

    assertFalse(ReadersAndWriters.outcome(unlocked, run(1, 1, good)).ok(), "torn");
    assertFalse(ReadersAndWriters.outcome(unlocked, run(0, 0, good)).ok(), "a write was lost");
    assertFalse(
        ReadersAndWriters.outcome(unlocked, run(0, 1, good[0], good[1])).ok(), "no write is over");
    assertFalse(
        ReadersAndWriters.outcome(unlocked, run(0, 1, good[0], reader(1, 40, 45), writer)).ok(),
        "one reader at a time");
    assertFalse(
        ReadersAndWriters.outcome(unlocked, run(0, 1, good[0], good[1], starved)).ok(), "starved");
    assertFalse(
        ReadersAndWriters.outcome(unlocked, run(0, 1, good[0], reader(1, 29, 45), writer)).ok(),
        "a reader inside with a writer");
  }
}
