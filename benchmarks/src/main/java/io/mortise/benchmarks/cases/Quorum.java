package io.mortise.benchmarks.cases;

import io.mortise.benchmarks.locks.LockKind;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.worker.Worker;
import io.mortise.benchmarks.worker.WorkerTask;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A lock on the majority of five servers. The baseline is here Mortise's own {@code RedisLock} on
 * one server.
 */
final class Quorum implements BenchmarkCase {
  private static final int SERVERS = 5;
  private static final Duration FIRST_CYCLES = Duration.ofMillis(300);

  /** The fault of a workload; each has its own five servers, so that turns alternate. */
  private enum Nodes {
    WELL("all well") {
      @Override
      void inject(List<RedisServer> servers) {}
    },
    PAUSED("one paused") {
      @Override
      void inject(List<RedisServer> servers) {
        servers.get(SERVERS - 1).pause();
      }
    },
    DEAD("two dead") {
      @Override
      void inject(List<RedisServer> servers) {
        servers.get(SERVERS - 1).kill();
        servers.get(SERVERS - 2).kill();
      }
    };

    final String label;

    Nodes(String label) {
      this.label = label;
    }

    abstract void inject(List<RedisServer> servers);
  }

  @Override
  public String name() {
    return "quorum";
  }

  @Override
  public String description() {
    return "RedLock on 5 servers, all well, one paused, two dead; the baseline is a lock on one server";
  }

  @Override
  public Figure figure() {
    return new Figure("p50_us", "lock and unlock, median, µs");
  }

  /** A cycle does the work of five, so a second has fewer of them. */
  @Override
  public Duration warmUp(Settings settings) {
    return settings.quick() ? settings.warmUp() : settings.warmUp().multipliedBy(4);
  }

  @Override
  public CaseSetup open(Settings settings) throws InterruptedException {
    QuorumSetup setup = new QuorumSetup();
    try {
      setup.fill();
      return setup;
    } catch (InterruptedException | RuntimeException | Error e) {
      setup.close();
      throw e;
    }
  }

  private static final class QuorumSetup implements CaseSetup {
    private final List<RedisServer> servers = new ArrayList<>();
    private final List<Worker> workers = new ArrayList<>();
    private final List<Workload> workloads = new ArrayList<>();

    void fill() throws InterruptedException {
      RedisServer single = server();
      WorkerTeam oneNode =
          team(LockLibrary.MORTISE, LockKind.PLAIN, List.of(single), List.of(single), "one node");
      for (Nodes nodes : Nodes.values()) {
        List<RedisServer> five = Stream.generate(this::server).limit(SERVERS).toList();
        // The others may be unable to answer.
        List<RedisServer> counted = five.subList(0, nodes == Nodes.WELL ? SERVERS : SERVERS - 2);
        Map<LockLibrary, Workload.Contender> contenders = new EnumMap<>(LockLibrary.class);
        for (LockLibrary library : List.of(LockLibrary.MORTISE, LockLibrary.REDISSON)) {
          contenders.put(library, team(library, LockKind.QUORUM, five, counted, nodes.label));
        }
        contenders.put(LockLibrary.RAW_REDIS, oneNode);
        for (Workload.Contender contender : contenders.values()) {
          contender.run(FIRST_CYCLES); // a client that has never seen a server may refuse to begin
        }
        nodes.inject(five);
        workloads.add(
            new Workload(
                nodes.label,
                Map.of("lock", LockKind.QUORUM.label(), "nodes", nodes.label),
                1,
                1,
                contenders,
                nodes == Nodes.WELL ? null : Nodes.WELL.label));
      }
    }

    private RedisServer server() {
      RedisServer server = RedisServer.start();
      servers.add(server);
      return server;
    }

    private WorkerTeam team(
        LockLibrary library,
        LockKind kind,
        List<RedisServer> on,
        List<RedisServer> counted,
        String label)
        throws InterruptedException {
      Worker worker = Worker.start(library, on.stream().map(RedisServer::uri).toList());
      workers.add(worker);
      worker.awaitReady();
      return new WorkerTeam(
          List.of(worker),
          WorkerTask.own(label, kind, List.of(library.label() + ":quorum"), 1),
          counted);
    }

    @Override
    public List<Workload> workloads() {
      return List.copyOf(workloads);
    }

    @Override
    public void close() {
      workers.forEach(Worker::close);
      servers.forEach(RedisServer::close);
    }
  }
}
