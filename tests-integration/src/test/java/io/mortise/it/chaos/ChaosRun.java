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
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;

/**
 * The test of one lock: its processes contend while the faults of each round strike; in the end all
 * clients are closed, and nothing may be left.
 */
final class ChaosRun {
  private static final Duration PROGRESS_LIMIT = Duration.ofSeconds(90);
  private static final Duration ACQUIRE_LIMIT = Duration.ofSeconds(60);

  /** Beside what faults explain: for 18 threads that get in one after the other. */
  private static final Duration ENTRY_LIMIT = Duration.ofSeconds(5);

  /** The number of guarded writes that show progress after the faults of a round. */
  private static final int PROGRESS = 10;

  private final TestedLock tested;
  private final Iterator<Round> planned;
  private final List<Round> rounds = new ArrayList<>();
  private final Settings settings;
  private final RedisServer guarded;
  private final Path directory;
  private final AfterRound afterRound;
  private final List<String> left = new ArrayList<>();
  private final Map<Round, RoundNotes> notes = new HashMap<>();

  /** Looks at servers and clients after each round, while the clients rest. */
  interface AfterRound {
    void look(ChaosServers servers, ChaosClients clients) throws InterruptedException;
  }

  ChaosRun(
      TestedLock tested,
      Iterator<Round> planned,
      Settings settings,
      RedisServer guarded,
      Path directory,
      AfterRound afterRound) {
    this.tested = tested;
    this.planned = planned;
    this.afterRound = afterRound;
    this.settings = settings;
    this.guarded = guarded;
    this.directory = directory.resolve(tested.toString());
  }

  /**
   * Runs the tests of several locks, that number at a time, and returns their findings.
   *
   * @param violations gets a line for each run that failed
   */
  static List<Findings> runAll(List<ChaosRun> runs, int parallel, List<String> violations)
      throws InterruptedException {
    List<Findings> findings = new ArrayList<>();
    ExecutorService executor = Executors.newFixedThreadPool(parallel);
    try {
      for (Future<Findings> run : runs.stream().map(it -> executor.submit(it::run)).toList()) {
        try {
          findings.add(run.get());
          System.out.println(FindingsTable.of(List.of(run.get())));
        } catch (ExecutionException e) {
          e.getCause().printStackTrace(System.out);
          violations.add("a run failed: " + e.getCause());
        }
      }
    } finally {
      executor.shutdownNow();
    }
    return findings;
  }

  /** Runs all rounds, and returns the findings. */
  Findings run() throws IOException, InterruptedException {
    Files.createDirectories(directory);
    long seed = settings.seed() * 31 + tested.toString().hashCode();
    try (ChaosServers servers =
        tested.topology().open(tested.family(), directory, new Random(seed))) {
      try (ChaosClients clients =
          new ChaosClients(tested, servers, guarded.uri(), directory, settings, seed)) {
        while (planned.hasNext()) {
          Round round = planned.next();
          rounds.add(round);
          try (FaultContext context = new FaultContext(servers, clients, round.name())) {
            runRound(round, context);
          }
          afterRound.look(servers, clients);
        }
        left.addAll(clients.stop());
      }
      left.addAll(Leftovers.of(servers, settings, () -> acquireAllOnce(servers)));
    }
    return Findings.of(tested, rounds, directory, guarded, notes, left);
  }

  private void runRound(Round round, FaultContext context) throws InterruptedException {
    long promotions = context.servers().promotions();
    context.servers().differClocks(!round.losesData());
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
    List<String> stuck = new ArrayList<>();
    long allInMillis = context.clients().callRoll(round.name(), entryBound(round), stuck);
    long promoted =
        round.events().stream()
            .filter(it -> it.fault() == Fault.PROMOTED)
            .mapToLong(it -> it.targets().size())
            .sum();
    boolean unplanned = context.servers().promotions() > promotions + promoted;
    notes.put(round, new RoundNotes(unplanned, allInMillis, stuck));
  }

  /**
   * Returns how long a thread may wait after the faults of a round: the lease of a holder and the
   * place of a waiter that were killed, lengthened by clocks that were set back; and two commands
   * that run into their time-out, because their connections are half-open.
   */
  private Duration entryBound(Round round) {
    LockOptions options = tested.options().lockOptions(settings.lease(), settings.maxHandOffs());
    Duration bound = ENTRY_LIMIT.plus(options.lease()).plus(tested.options().waiterTimeout());
    for (FaultEvent event : round.events()) {
      if (event.fault() == Fault.CLOCK_SET_BACK) {
        bound = bound.plus(Fault.clockStep(event));
      }
    }
    return bound.plus(options.commandTimeout().multipliedBy(2));
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
    LockOptions options = tested.options().lockOptions(settings.lease(), settings.maxHandOffs());
    List<LockClient> clients =
        servers.uris().stream().map(uri -> LockClient.create(uri, options)).toList();
    try {
      for (Round round : rounds) {
        for (SectionEntry entry :
            tested.family().entries(clients, tested.options(), round.name())) {
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
