package io.mortise.benchmarks.cases;

import com.google.common.collect.ImmutableMap;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.locks.MeasuredLock;
import io.mortise.benchmarks.locks.NameSharing;
import io.mortise.benchmarks.worker.BenchmarkTask;
import io.mortise.benchmarks.worker.SharedMemoryCounter;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Many clients, of one thread each, lock one name. No machine has room for a JVM for each of 128
 * clients, so a few JVMs have several clients each; every client has its connections, its
 * subscriptions and its id.
 */
final class Crowd implements BenchmarkCase {
  private static final List<Integer> CLIENTS = List.of(2, 8, 32, 128);
  private static final List<Integer> QUICK_CLIENTS = List.of(2, 8);
  private static final int PROCESSES = 4;
  private static final int QUICK_PROCESSES = 2;
  private static final int SECTION_MICROS = 200;
  private static final double WRITERS = 0.1;
  private static final Duration TURN = Duration.ofSeconds(2);

  /** How many turns one of readers and writers has: a client of 128 writes once in a second. */
  private static final int TURNS_OF_MIXED = 4;

  private static final int QUICK_ROUNDS = 2;
  private static final Duration QUICK_WARM_UP = Duration.ofMillis(100);

  /** The locks; readers and writers mixed have no counter, since readers are inside together. */
  private enum Contest {
    PLAIN(MeasuredLock.PLAIN, 0),
    FAIR(MeasuredLock.FAIR, 0),
    WRITE(MeasuredLock.WRITE, 0),
    MIXED(MeasuredLock.READ, WRITERS);

    final MeasuredLock lock;
    final double writeShare;

    Contest(MeasuredLock lock, double writeShare) {
      this.lock = lock;
      this.writeShare = writeShare;
    }

    String label() {
      return this == MIXED ? "readers, %.0f %% writers".formatted(WRITERS * 100) : lock.label();
    }

    @Nullable String counterFile() {
      return this == MIXED ? null : SharedMemoryCounter.newFile().toString();
    }
  }

  @Override
  public String name() {
    return "crowd";
  }

  @Override
  public String description() {
    return "one name, 2 to 128 clients, 200 µs inside; plain, fair, write, readers with 10 % writers";
  }

  @Override
  public Duration fullTime() {
    return Duration.ofMinutes(10);
  }

  @Override
  public int rounds(BenchmarkSettings settings) {
    return settings.quick() ? QUICK_ROUNDS : settings.rounds();
  }

  @Override
  public Duration turn(BenchmarkSettings settings) {
    return settings.quick() ? settings.turn() : TURN;
  }

  @Override
  public Duration warmUp(BenchmarkSettings settings) {
    return settings.quick() ? QUICK_WARM_UP : settings.warmUp();
  }

  @Override
  public List<Growth> growth() {
    return Stream.of(
            new Figure("scripts_per_op", "EVALSHA for each cycle"),
            new Figure("messages_per_op", "messages for each cycle"),
            figure(),
            new Figure("p99_us", "wait, 99th percentile, µs"))
        .map(figure -> new Growth("clients", "clients", "contest_kind", figure))
        .toList();
  }

  @Override
  public CaseSetup open(BenchmarkSettings settings) throws InterruptedException {
    SharedServerSetup setup =
        SharedServerSetup.open(
            settings.quick() ? QUICK_PROCESSES : PROCESSES,
            List.of(LockLibrary.MORTISE, LockLibrary.REDISSON));
    for (Contest contest : Contest.values()) {
      for (int clients : settings.quick() ? QUICK_CLIENTS : CLIENTS) {
        add(setup, contest, clients, settings.quick() ? QUICK_PROCESSES : PROCESSES);
      }
    }
    return setup;
  }

  private static void add(SharedServerSetup setup, Contest contest, int clients, int most) {
    int processes = Math.min(clients, most);
    String label = "%s, %d clients in %d processes".formatted(contest.label(), clients, processes);
    setup.add(
        label,
        ImmutableMap.of(
            "lock",
            contest.lock.label(),
            "clients",
            clients,
            "section_us",
            SECTION_MICROS,
            "contest_kind",
            contest.label()),
        contest == Contest.MIXED ? TURNS_OF_MIXED : 1,
        library ->
            new BenchmarkTask(
                label,
                contest.lock,
                List.of("%s:crowd:%s:%d".formatted(library.label(), contest, clients)),
                NameSharing.CLIENTS,
                clients / processes,
                SECTION_MICROS,
                contest.writeShare,
                BenchmarkTask.Latency.WAIT,
                contest.counterFile()),
        processes,
        ServerProbe.MESSAGES,
        null);
  }
}
