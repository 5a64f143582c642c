package io.mortise.cli.demo;

import io.mortise.cli.Version;
import io.mortise.cli.worker.Workers;
import io.mortise.core.LockException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import redis.clients.jedis.exceptions.JedisException;

/** Plays chapters, one after the other, on one Redis and the same workers. */
final class Demo {
  /** Longer than any single step takes, on a slow machine too; a lease comes on top. */
  private static final Duration PATIENCE = Duration.ofSeconds(15);

  private final DemoSettings settings;
  private final Optional<URI> redisUri;
  private final Function<Chapter, Progress> showing;
  private final Duration patience;

  /**
   * A demo that has not begun.
   *
   * @param redisUri empty if a Redis is to be started for the demo
   * @param showing how to show the progress of a chapter
   */
  Demo(DemoSettings settings, Optional<URI> redisUri, Function<Chapter, Progress> showing) {
    this(settings, redisUri, showing, PATIENCE);
  }

  /** The same, with the time without any report after which a chapter has come to a standstill. */
  Demo(
      DemoSettings settings,
      Optional<URI> redisUri,
      Function<Chapter, Progress> showing,
      Duration patience) {
    this.settings = settings;
    this.redisUri = redisUri;
    this.showing = showing;
    this.patience = patience;
  }

  /**
   * Plays them.
   *
   * @throws DemoFailure if that is not possible, which says nothing about the locks
   */
  DemoReport play(List<Chapter> chapters, String mainClass) throws InterruptedException {
    long begin = System.nanoTime();
    String run = Integer.toHexString(ThreadLocalRandom.current().nextInt() | 0x10000000);
    try (Workers workers = new Workers(settings.processes(), mainClass);
        DemoRedis redis = DemoRedis.open(redisUri)) {
      workers.startMissing();
      List<ChapterReport> reports = new ArrayList<>();
      for (Chapter chapter : chapters) {
        String lockName = "mortise-demo:%s:%s".formatted(run, chapter.name());
        try (Progress progress = showing.apply(chapter)) {
          ChapterRun stage =
              new ChapterRun(
                  chapter.name(), lockName, redis, settings, workers, progress, patience);
          reports.add(play(chapter, stage, workers));
          stage.removeData();
        }
      }
      return new DemoReport(Version.ofMortise(), redis.toString(), settings, reports, since(begin));
    } catch (JedisException | LockException e) {
      throw new DemoFailure("Redis cannot be used any more: " + e.getMessage(), e);
    }
  }

  private static ChapterReport play(Chapter chapter, ChapterRun stage, Workers workers)
      throws InterruptedException {
    long begin = System.nanoTime();
    Outcome outcome;
    try {
      outcome = chapter.play(stage);
    } catch (NoProgressException e) {
      outcome = interrupted(stage, e);
      workers.reset();
    }
    return new ChapterReport(
        chapter.name(),
        chapter.title(),
        chapter.story(),
        outcome,
        since(begin),
        stage.inbox().log());
  }

  private static Outcome interrupted(ChapterRun stage, NoProgressException standstill) {
    int served = stage.recording().served();
    return new Outcome(
        false,
        "It came to a standstill: %s; %d stays inside were over by then."
            .formatted(standstill.getMessage(), served),
        List.of(Metric.count("served", "stays inside", served)),
        List.of(TimelineWindow.of(stage, "Before the standstill.")));
  }

  private static Duration since(long nanos) {
    return Duration.ofNanos(System.nanoTime() - nanos);
  }
}
