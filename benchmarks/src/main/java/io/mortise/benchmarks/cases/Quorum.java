package io.mortise.benchmarks.cases;

import com.google.common.collect.ImmutableMap;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.locks.MeasuredLock;
import io.mortise.benchmarks.locks.NameSharing;
import io.mortise.benchmarks.worker.BenchmarkTask;
import io.mortise.benchmarks.worker.BenchmarkWorker;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A lock on the majority of several servers, beside Redisson's {@code RedissonRedLock} and beside
 * Mortise's own {@code RedisLock} on one server, which shows the cost of the majority.
 */
final class Quorum implements BenchmarkCase {
  private static final int SERVERS = 5;
  private static final int MANY = 64;
  private static final Duration FIRST_CYCLES = Duration.ofMillis(300);
  private static final Duration QUICK_FIRST_CYCLES = Duration.ofMillis(50);
  private static final Duration QUICK_TURN = Duration.ofMillis(50);

  /** The state of the servers; those with a fault have their own, so that turns alternate. */
  private enum Nodes {
    WELL("all well", 0) {
      @Override
      void inject(List<RedisServer> servers) {}
    },
    PAUSED("one paused", 1) {
      @Override
      void inject(List<RedisServer> servers) {
        servers.get(SERVERS - 1).pause();
      }
    },
    DEAD("two dead", 2) {
      @Override
      void inject(List<RedisServer> servers) {
        servers.get(SERVERS - 1).kill();
        servers.get(SERVERS - 2).kill();
      }
    };

    final String label;
    final int silent;

    Nodes(String label, int silent) {
      this.label = label;
      this.silent = silent;
    }

    abstract void inject(List<RedisServer> servers);
  }

  /** The number of threads that lock, and the names that they share. */
  private record Load(String label, int threads, NameSharing sharing) {
    static final Load ONE = new Load("1 thread", 1, NameSharing.NOBODY);

    static List<Load> of(int many) {
      return List.of(
          ONE,
          new Load(many + " threads, own names", many, NameSharing.NOBODY),
          new Load(many + " threads, one name", many, NameSharing.THREADS));
    }

    BenchmarkTask task(MeasuredLock kind, LockLibrary library, int servers) {
      BenchmarkTask.Latency latency =
          sharing == NameSharing.NOBODY ? BenchmarkTask.Latency.CYCLE : BenchmarkTask.Latency.WAIT;
      return new BenchmarkTask(
          "%s, %d".formatted(label, servers),
          kind,
          List.of("%s:quorum:%d:%s".formatted(library.label(), servers, label)),
          sharing,
          threads,
          0,
          0,
          latency,
          null);
    }
  }

  @Override
  public String name() {
    return "quorum";
  }

  @Override
  public String description() {
    return "RedLock on 3, 5, 9 servers, 1 and 64 threads; on 5 one paused, two dead; beside"
        + " RedisLock on one";
  }

  @Override
  public Figure figure() {
    return new Figure("p50_us", "lock and unlock (of one name: lock), median, µs");
  }

  @Override
  public Duration fullTime() {
    return Duration.ofMinutes(8);
  }

  @Override
  public List<Growth> growth() {
    return Stream.of(
            figure(),
            new Figure("p99_us", "lock and unlock (of one name: lock), 99th percentile, µs"),
            new Figure("ops_per_s", "lock and unlock, per second"))
        .map(figure -> new Growth("servers", "servers", "series", figure))
        .toList();
  }

  @Override
  public Duration turn(BenchmarkSettings settings) {
    return settings.quick() ? QUICK_TURN : settings.turn();
  }

  /** A cycle does the work of five, so a second has fewer of them. */
  @Override
  public Duration warmUp(BenchmarkSettings settings) {
    return settings.quick() ? QUICK_TURN : settings.warmUp().multipliedBy(4);
  }

  @Override
  public CaseSetup open(BenchmarkSettings settings) throws InterruptedException {
    QuorumSetup setup = new QuorumSetup(settings.quick() ? QUICK_FIRST_CYCLES : FIRST_CYCLES);
    try {
      setup.fill(settings.quick());
      return setup;
    } catch (InterruptedException | RuntimeException | Error e) {
      setup.close();
      throw e;
    }
  }

  private static final class QuorumSetup implements CaseSetup {
    private final Duration firstCycles;
    private final List<RedisServer> servers = new ArrayList<>();
    private final List<BenchmarkWorker> workers = new ArrayList<>();
    private final List<Workload> workloads = new ArrayList<>();

    QuorumSetup(Duration firstCycles) {
      this.firstCycles = firstCycles;
    }

    void fill(boolean quick) throws InterruptedException {
      List<Load> loads = Load.of(quick ? MANY / 8 : MANY);
      Group single = new Group(List.of(server()), 0);
      single.connect(List.of(LockLibrary.ONE_NODE));
      List<RedisServer> well = new ArrayList<>();
      for (int count : quick ? List.of(3, SERVERS) : List.of(3, SERVERS, 9)) {
        while (well.size() < count) {
          well.add(server());
        }
        Group group = new Group(List.copyOf(well), 0);
        group.connect(List.of(LockLibrary.MORTISE, LockLibrary.REDISSON));
        for (Load load : loads) {
          add(group, single, Nodes.WELL, load);
        }
      }
      if (!quick) {
        addFaulty(single, Nodes.PAUSED);
        addFaulty(single, Nodes.DEAD);
      }
    }

    private void addFaulty(Group single, Nodes nodes) throws InterruptedException {
      Group five = new Group(Stream.generate(this::server).limit(SERVERS).toList(), nodes.silent);
      five.connect(List.of(LockLibrary.MORTISE, LockLibrary.REDISSON));
      add(five, single, nodes, Load.ONE);
      nodes.inject(five.servers);
    }

    private void add(Group group, Group single, Nodes nodes, Load load)
        throws InterruptedException {
      Map<LockLibrary, Workload.Contender> contenders = new EnumMap<>(LockLibrary.class);
      for (LockLibrary library : List.of(LockLibrary.MORTISE, LockLibrary.REDISSON)) {
        contenders.put(library, group.team(library, MeasuredLock.QUORUM, load));
      }
      contenders.put(
          LockLibrary.ONE_NODE, single.team(LockLibrary.ONE_NODE, MeasuredLock.PLAIN, load));
      for (Workload.Contender contender : contenders.values()) {
        contender.run(firstCycles); // a client that has never seen a server may refuse to begin
      }
      workloads.add(
          new Workload(
              label(group.servers.size(), nodes, load),
              ImmutableMap.of(
                  "lock",
                  MeasuredLock.QUORUM.label(),
                  "nodes",
                  nodes.label,
                  "servers",
                  group.servers.size(),
                  "series",
                  nodes == Nodes.WELL ? load.label : "%s, %s".formatted(load.label, nodes.label)),
              load.threads,
              1,
              contenders,
              nodes == Nodes.WELL ? null : label(SERVERS, Nodes.WELL, load)));
    }

    private static String label(int servers, Nodes nodes, Load load) {
      return nodes == Nodes.WELL
          ? "%d servers, %s".formatted(servers, load.label)
          : "%d servers, %s".formatted(servers, nodes.label);
    }

    private RedisServer server() {
      RedisServer server = RedisServer.start();
      servers.add(server);
      return server;
    }

    /** Servers, and a process of each library that is connected to all of them. */
    private final class Group {
      private final List<RedisServer> servers;
      private final List<RedisServer> counted;
      private final Map<LockLibrary, BenchmarkWorker> connected = new EnumMap<>(LockLibrary.class);

      /**
       * A group of servers.
       *
       * @param silent how many of them, the last, will be unable to answer
       */
      Group(List<RedisServer> servers, int silent) {
        this.servers = servers;
        counted = servers.subList(0, silent == 0 ? servers.size() : servers.size() - 2);
      }

      void connect(List<LockLibrary> libraries) throws InterruptedException {
        for (LockLibrary library : libraries) {
          BenchmarkWorker worker =
              BenchmarkWorker.start(library, servers.stream().map(RedisServer::uri).toList());
          workers.add(worker);
          connected.put(library, worker);
        }
        for (BenchmarkWorker worker : connected.values()) {
          worker.awaitReady();
        }
      }

      WorkerTeam team(LockLibrary library, MeasuredLock kind, Load load) {
        return new WorkerTeam(
            connected.entrySet().stream()
                .filter(entry -> entry.getKey() == library)
                .map(Map.Entry::getValue)
                .toList(),
            load.task(kind, library, servers.size()),
            counted);
      }
    }

    @Override
    public List<Workload> workloads() {
      return List.copyOf(workloads);
    }

    @Override
    public void close() {
      workers.forEach(BenchmarkWorker::close);
      servers.forEach(RedisServer::close);
    }
  }
}
