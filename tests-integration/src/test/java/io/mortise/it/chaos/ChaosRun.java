package io.mortise.it.chaos;

import static org.awaitility.Awaitility.await;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.testkit.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;

/**
 * One subject is put to the proof: its processes contend, its rounds befall them, and in the end
 * all is given up and nothing may be left.
 */
final class ChaosRun {
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  /** What has to be done under the guard after each round, when all is well again. */
  private static final int PROGRESS = 10;

  private final TestedLock subject;
  private final List<Round> rounds;
  private final Settings settings;
  private final RedisServer guarded;
  private final Path directory;
  private final List<String> left = new ArrayList<>();
  private final Set<Round> unplanned = new HashSet<>();

  ChaosRun(
      TestedLock subject,
      List<Round> rounds,
      Settings settings,
      RedisServer guarded,
      Path directory) {
    this.subject = subject;
    this.rounds = rounds;
    this.settings = settings;
    this.guarded = guarded;
    this.directory = directory.resolve(subject.toString());
  }

  /** Runs all rounds, and says what was found. */
  Findings run() throws IOException, InterruptedException {
    Files.createDirectories(directory);
    long seed = settings.seed() * 31 + subject.toString().hashCode();
    try (ChaosServers arena = subject.topology().open(subject.family().servers())) {
      try (ChaosClients crowd =
          new ChaosClients(subject, arena, guarded.uri(), directory, settings, seed)) {
        FaultContext scene = new FaultContext(arena, crowd);
        for (Round round : rounds) {
          play(round, scene);
        }
        left.addAll(crowd.stop());
      }
      left.addAll(Leftovers.of(arena, settings, () -> visitAll(arena)));
    }
    return Findings.of(subject, rounds, directory, guarded, unplanned, left);
  }

  private void play(Round round, FaultContext scene) throws InterruptedException {
    long promotions = scene.arena().promotions();
    scene.crowd().contend(round);
    long startNanos = System.nanoTime();
    for (Act act : acts(round)) {
      PlannedTime.until(startNanos + act.atMillis() * 1_000_000);
      for (int victim : act.strike().victims()) {
        if (act.begins()) {
          act.strike().fault().begin(scene, act.strike(), victim);
        } else {
          act.strike().fault().end(scene, victim);
        }
      }
    }
    scene.arena().restore();
    awaitProgress(round, scene);
    scene.crowd().rest();
    long planned =
        round.strikes().stream().filter(strike -> strike.fault() == Fault.PROMOTED).count();
    if (scene.arena().promotions() > promotions + planned) {
      unplanned.add(round);
    }
  }

  /** The begin or the end of a strike. */
  private record Act(long atMillis, boolean begins, FaultEvent strike) {}

  private static List<Act> acts(Round round) {
    return round.strikes().stream()
        .flatMap(
            strike ->
                Stream.of(
                    new Act(strike.atMillis(), true, strike),
                    new Act(strike.endMillis(), false, strike)))
        .sorted(Comparator.comparingLong(Act::atMillis))
        .toList();
  }

  private void awaitProgress(Round round, FaultContext scene) {
    long before = attempts(round);
    try {
      await().atMost(PATIENCE).until(() -> attempts(round) >= before + PROGRESS);
    } catch (ConditionTimeoutException e) {
      throw new AssertionError(
          "nobody enters any more after %s: %s".formatted(round.name(), scene.crowd().output()), e);
    }
  }

  private long attempts(Round round) {
    return subject.family().resources(round.name()).stream()
        .mapToLong(resource -> WriteLog.attempts(guarded, resource))
        .sum();
  }

  /** Somebody comes once more to each lock, as the next user would, and finds it free. */
  private void visitAll(ChaosServers arena) {
    LockOptions options = LockOptions.builder().lease(settings.lease()).build();
    List<LockClient> clients =
        arena.uris().stream().map(uri -> LockClient.create(uri, options)).toList();
    try {
      for (Round round : rounds) {
        for (SectionEntry side : subject.family().sides(clients, round.name())) {
          if (side.lock().tryLock(Duration.ofSeconds(30))) {
            side.lock().unlock();
          } else {
            left.add("the lock '%s' is not free".formatted(side.lock().name()));
          }
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      clients.forEach(LockClient::close);
    }
  }
}
