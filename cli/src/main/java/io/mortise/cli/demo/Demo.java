package io.mortise.cli.demo;

import io.mortise.cli.worker.Workers;
import io.mortise.core.LockException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import redis.clients.jedis.exceptions.JedisException;

/** Plays chapters one after the other, on one Redis and the same workers. */
public final class Demo {
  /** Longer than any single step takes, also on a slow machine; a lease is added. */
  private static final Duration STEP_TIMEOUT = Duration.ofSeconds(15);

  private final String version;
  private final DemoSettings settings;
  private final Optional<URI> redisUri;
  private final Function<Chapter, Progress> showing;
  private final Duration stepTimeout;
  private final Optional<Path> recordings;

  /**
   * A demo that has not begun.
   *
   * @param version of Mortise
   * @param redisUri empty if a Redis is to be started for the demo
   * @param showing makes the progress of a chapter
   */
  public Demo(
      String version,
      DemoSettings settings,
      Optional<URI> redisUri,
      Function<Chapter, Progress> showing) {
    this(version, settings, redisUri, showing, STEP_TIMEOUT, Optional.empty());
  }

  /** The same, with the time without any report after which a chapter fails. */
  Demo(
      String version,
      DemoSettings settings,
      Optional<URI> redisUri,
      Function<Chapter, Progress> showing,
      Duration stepTimeout) {
    this(version, settings, redisUri, showing, stepTimeout, Optional.empty());
  }

  private Demo(
      String version,
      DemoSettings settings,
      Optional<URI> redisUri,
      Function<Chapter, Progress> showing,
      Duration stepTimeout,
      Optional<Path> recordings) {
    this.version = version;
    this.settings = settings;
    this.redisUri = redisUri;
    this.showing = showing;
    this.stepTimeout = stepTimeout;
    this.recordings = recordings;
  }

  /** Returns the same demo, whose workers leave recordings of Flight Recorder in that folder. */
  public Demo recordingTo(Path folder) {
    return new Demo(version, settings, redisUri, showing, stepTimeout, Optional.of(folder));
  }

  /**
   * Plays the chapters.
   *
   * @throws DemoFailure if that is not possible, which says nothing about the locks
   */
  public DemoReport play(List<Chapter> chapters) throws InterruptedException {
    long begin = System.nanoTime();
    String id = Integer.toHexString(ThreadLocalRandom.current().nextInt() | 0x10000000);
    try (Workers workers =
            new Workers(settings.processes(), WorkerMain.class.getName(), recordings);
        DemoRedis redis = DemoRedis.open(redisUri)) {
      workers.startMissing();
      List<ChapterReport> reports = new ArrayList<>();
      for (Chapter chapter : chapters) {
        String lockName = "mortise-demo:%s:%s".formatted(id, chapter.name());
        try (Progress progress = showing.apply(chapter)) {
          ChapterRun run =
              new ChapterRun(
                  chapter.name(), lockName, redis, settings, workers, progress, stepTimeout);
          reports.add(play(chapter, run, workers));
          run.removeData();
        }
      }
      return new DemoReport(version, redis.toString(), settings, reports, since(begin));
    } catch (JedisException | LockException e) {
      throw new DemoFailure("Redis cannot be used any more: " + e.getMessage(), e);
    }
  }

  private static ChapterReport play(Chapter chapter, ChapterRun run, Workers workers)
      throws InterruptedException {
    long begin = System.nanoTime();
    Outcome outcome;
    try {
      outcome = chapter.play(run);
    } catch (NoProgressException e) {
      outcome = withoutProgress(run, e);
      workers.reset();
    }
    return new ChapterReport(
        chapter.name(),
        chapter.title(),
        chapter.story(),
        outcome,
        since(begin),
        run.events().log());
  }

  private static Outcome withoutProgress(ChapterRun run, NoProgressException e) {
    int served = run.recording().served();
    return new Outcome(
        false,
        "There was no progress: %s; %d holds were over by then.".formatted(e.getMessage(), served),
        List.of(Metric.count("served", "holds", served)),
        List.of(TimelineWindow.of(run, "Before the progress ended.")));
  }

  private static Duration since(long nanos) {
    return Duration.ofNanos(System.nanoTime() - nanos);
  }
}
