package io.mortise.cli.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.cli.Main;
import io.mortise.cli.timeline.Hold;
import io.mortise.cli.worker.Till;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** That a chapter which does not hold is found out: the demo must be able to fail. */
class JudgementTest {
  private static final DemoSettings SETTINGS =
      new DemoSettings(2, 2, 100, 300, Duration.ofMillis(500));

  private interface Playing {
    Outcome play(Stage stage) throws InterruptedException;
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
    public Outcome play(Stage stage) throws InterruptedException {
      return playing.play(stage);
    }

    @Override
    public void work(Till till) {
      throw new AssertionError("workers look their side up by its name");
    }
  }

  private static final class Silent implements Progress {
    @Override
    public void to(long sold) {}

    @Override
    public void say(String what) {}

    @Override
    public void log(String line) {}

    @Override
    public void close() {}
  }

  private static DemoReport play(Chapter... chapters) throws InterruptedException {
    Duration patience = Duration.ofSeconds(3);
    return new Demo(SETTINGS, Optional.empty(), chapter -> new Silent(), patience)
        .play(List.of(chapters), Main.class.getName());
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
  void aStandstillIsAChapterThatDoesNotHoldAndTheNextIsPlayed() throws InterruptedException {
    Playing stuck =
        stage -> {
          stage.open(Victim.roles(2), Victim.WORKER);
          stage.await("something that never happens", () -> false);
          throw new AssertionError("not reached");
        };
    DemoReport report = play(new Swapped("crash", stuck), new WithRedisLock());
    Outcome outcome = report.chapters().get(0).outcome();
    assertFalse(outcome.ok());
    assertTrue(outcome.explanation().contains("standstill"), outcome::explanation);
    assertTrue(report.chapters().get(1).outcome().ok());
  }

  @Test
  void twoInsideTogetherAreFound() {
    Exclusion exclusion =
        Exclusion.of(List.of(new Hold(0, 0, 1, 0, 10, 20), new Hold(1, 0, 2, 0, 19, 30)));
    assertEquals(new Exclusion(1, 0), exclusion);
    assertFalse(exclusion.holds());
  }

  @Test
  void aTokenThatDoesNotGrowIsFound() {
    Exclusion exclusion =
        Exclusion.of(List.of(new Hold(0, 0, 2, 0, 10, 20), new Hold(1, 0, 2, 0, 20, 30)));
    assertEquals(new Exclusion(0, 1), exclusion);
  }

  @Test
  void lostUpdatesAreSalesThatTheStockDoesNotKnow() {
    Sale sale = new Sale(10, 7, 12, List.of());
    assertEquals(2, sale.oversold());
    assertEquals(9, sale.lostUpdates());
  }
}
