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
 * The test of one lock: its processes contend while the faults of each round strike; in the end all
 * clients are closed, and nothing may be left.
 */
final class ChaosRun {
  private static final Duration PROGRESS_LIMIT = Duration.ofSeconds(90);
  private static final Duration ACQUIRE_LIMIT = Duration.ofSeconds(30);

  /** The number of guarded writes that show progress after the faults of a round. */
  private static final int PROGRESS = 10;

  private final TestedLock tested;
  private final List<Round> rounds;
  private final Settings settings;
  private final RedisServer guarded;
  private final Path directory;
  private final List<String> left = new ArrayList<>();
  private final Set<Round> unplanned = new HashSet<>();

  ChaosRun(
      TestedLock tested,
      List<Round> rounds,
      Settings settings,
      RedisServer guarded,
      Path directory) {
    this.tested = tested;
    this.rounds = rounds;
    this.settings = settings;
    this.guarded = guarded;
    this.directory = directory.resolve(tested.toString());
  }

  /** Runs all rounds, and returns the findings. */
  Findings run() throws IOException, InterruptedException {
    Files.createDirectories(directory);
    long seed = settings.seed() * 31 + tested.toString().hashCode();
    try (ChaosServers servers = tested.topology().open(tested.family().serverCount())) {
      try (ChaosClients clients =
          new ChaosClients(tested, servers, guarded.uri(), directory, settings, seed)) {
        FaultContext context = new FaultContext(servers, clients);
        for (Round round : rounds) {
          runRound(round, context);
        }
        left.addAll(clients.stop());
      }
      left.addAll(Leftovers.of(servers, settings, () -> acquireAllOnce(servers)));
    }
    return Findings.of(tested, rounds, directory, guarded, unplanned, left);
  }

  private void runRound(Round round, FaultContext context) throws InterruptedException {
    long promotions = context.servers().promotions();
    context.clients().contend(round);
    long startNanos = System.nanoTime();
    for (Step step : steps(round)) {
      PlannedTime.until(startNanos + step.atMillis() * 1_000_000);
      FaultEvent event = step.event();
      for (int index : event.targets()) {
        if (step.begins()) {
          event.fault().begin(context, event, index);
        } else {
          event.fault().end(context, index);
        }
      }
    }
    context.servers().restore();
    awaitProgress(round, context);
    context.clients().rest();
    long planned = round.events().stream().filter(it -> it.fault() == Fault.PROMOTED).count();
    if (context.servers().promotions() > promotions + planned) {
      unplanned.add(round);
    }
  }

  /** The begin or the end of an event. */
  private record Step(long atMillis, boolean begins, FaultEvent event) {}

  private static List<Step> steps(Round round) {
    return round.events().stream()
        .flatMap(
            event ->
                Stream.of(
                    new Step(event.atMillis(), true, event),
                    new Step(event.endMillis(), false, event)))
        .sorted(Comparator.comparingLong(Step::atMillis))
        .toList();
  }

  private void awaitProgress(Round round, FaultContext context) {
    long before = attempts(round);
    try {
      await().atMost(PROGRESS_LIMIT).until(() -> attempts(round) >= before + PROGRESS);
    } catch (ConditionTimeoutException e) {
      throw new AssertionError(
          "no client enters any more after %s: %s"
              .formatted(round.name(), context.clients().output()),
          e);
    }
  }

  private long attempts(Round round) {
    return tested.family().resources(round.name()).stream()
        .mapToLong(resource -> WriteLog.attempts(guarded, resource))
        .sum();
  }

  /** Acquires each lock once more, as the next user would: it has to be free. */
  private void acquireAllOnce(ChaosServers servers) {
    LockOptions options = LockOptions.builder().lease(settings.lease()).build();
    List<LockClient> clients =
        servers.uris().stream().map(uri -> LockClient.create(uri, options)).toList();
    try {
      for (Round round : rounds) {
        for (SectionEntry entry : tested.family().entries(clients, round.name())) {
          if (entry.lock().tryLock(ACQUIRE_LIMIT)) {
            entry.lock().unlock();
          } else {
            left.add("the lock '%s' is not free".formatted(entry.lock().name()));
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
