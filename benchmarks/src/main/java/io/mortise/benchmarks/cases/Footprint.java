package io.mortise.benchmarks.cases;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.locks.MeasuredLock;
import io.mortise.benchmarks.measure.Latencies;
import io.mortise.benchmarks.measure.Sample;
import io.mortise.benchmarks.worker.BenchmarkRequest;
import io.mortise.benchmarks.worker.BenchmarkWorker;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * The memory that locks take in Redis, as {@code MEMORY USAGE} counts it, with the names of the
 * keys: for a hold, for a name that is free again, for a waiter in a queue, and for a reader.
 */
final class Footprint implements BenchmarkCase {
  private static final Duration LEASE = Duration.ofMinutes(10);
  private static final int NAMES = 100;
  private static final int WAITERS = 1_000;
  private static final int READERS = 1_000;

  /** A number follows, so each name has 8 or 9 characters. */
  private static final String PREFIX = "orders:";

  private static final String SHARED_NAME = "orders:1";

  /** The kind of entry whose memory is measured. */
  private enum Content {
    HOLD(MeasuredLock.PLAIN, NAMES, LockLibrary.MORTISE, LockLibrary.REDISSON) {
      @Override
      void put(LockLibrary library, RedisServer server) throws InterruptedException {
        hold(library, server);
      }
    },
    /** A fencing token, until its retention is over. */
    FREE_NAME(MeasuredLock.PLAIN, NAMES, LockLibrary.MORTISE) {
      @Override
      void put(LockLibrary library, RedisServer server) throws InterruptedException {
        hold(library, server);
        for (String key : keys(server)) {
          if (key.startsWith(PREFIX)) {
            server.command("DEL", key);
          }
        }
      }
    },
    WAITER(MeasuredLock.FAIR, WAITERS, LockLibrary.MORTISE) {
      @Override
      void put(LockLibrary library, RedisServer server) {
        server.command("HSET", SHARED_NAME, "somebody:1", "1");
        library.queue(server.uri(), SHARED_NAME, WAITERS);
        server.command("DEL", SHARED_NAME);
      }
    },
    READER(MeasuredLock.READ, READERS, LockLibrary.MORTISE, LockLibrary.REDISSON) {
      @Override
      void put(LockLibrary library, RedisServer server) {
        library.fill(server.uri(), SHARED_NAME, READERS, LEASE);
      }
    };

    final MeasuredLock lock;
    final int count;
    final ImmutableList<LockLibrary> libraries;

    Content(MeasuredLock lock, int count, LockLibrary... libraries) {
      this.lock = lock;
      this.count = count;
      this.libraries = ImmutableList.copyOf(libraries);
    }

    /** Puts that many into an empty server. */
    abstract void put(LockLibrary library, RedisServer server) throws InterruptedException;

    String label() {
      return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
  }

  /** The locks stay when the process that holds them has ended. */
  private static void hold(LockLibrary library, RedisServer server) throws InterruptedException {
    try (BenchmarkWorker worker = BenchmarkWorker.start(library, List.of(server.uri()))) {
      worker.awaitReady();
      worker.carryOut(new BenchmarkRequest.Take(PREFIX, NAMES, LEASE.toMillis()));
    }
  }

  @Override
  public String name() {
    return "footprint";
  }

  @Override
  public String description() {
    return "memory of Redis for a hold, a name that is free again, a waiter, a reader";
  }

  @Override
  public Figure figure() {
    return new Figure("redis_bytes", "memory of Redis for each, bytes");
  }

  @Override
  public boolean isLong() {
    return true;
  }

  /** Nothing of it depends on the time. */
  @Override
  public int rounds(BenchmarkSettings settings) {
    return 1;
  }

  @Override
  public CaseSetup open(BenchmarkSettings settings) {
    return new StandaloneSetup(
        List.of(Content.values()).stream().map(Footprint::workload).toList());
  }

  private static Workload workload(Content content) {
    Map<LockLibrary, Workload.Contender> contenders = new EnumMap<>(LockLibrary.class);
    for (LockLibrary library : content.libraries) {
      contenders.put(library, ignored -> measure(content, library));
    }
    return new Workload(
        content.label(),
        ImmutableMap.of("lock", content.lock.label(), "content", content.label()),
        1,
        1,
        contenders,
        null);
  }

  private static Sample measure(Content content, LockLibrary library) throws InterruptedException {
    try (RedisServer server = RedisServer.start()) {
      content.put(library, server);
      long bytes = 0;
      for (String key : keys(server)) {
        bytes +=
            (Long) Objects.requireNonNull(server.command("MEMORY", "USAGE", key, "SAMPLES", "0"));
      }
      return new Sample(
          Double.NaN,
          new Latencies(),
          Double.NaN,
          Map.of("redis_bytes", (double) bytes / content.count),
          bytes == 0 ? "there is nothing in Redis" : null);
    }
  }

  /** Returns the keys of the locks; that of a client is none. */
  private static List<String> keys(RedisServer server) {
    return ((List<?>) Objects.requireNonNull(server.command("KEYS", "*")))
        .stream().map(String::valueOf).filter(key -> !key.startsWith("mortise_client:")).toList();
  }
}
