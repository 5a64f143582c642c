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
 * A majority of five servers, beside one node's lock: here the floor is Mortise's own {@code
 * RedisLock} on one server.
 */
final class Quorum implements BenchmarkCase {
  private static final int SERVERS = 5;
  private static final Duration FIRST_CYCLES = Duration.ofMillis(300);

  /** What is the matter with the servers; each has five of its own, so that turns alternate. */
  private enum Nodes {
    WELL("all well") {
      @Override
      void befall(List<RedisServer> servers) {}
    },
    PAUSED("one paused") {
      @Override
      void befall(List<RedisServer> servers) {
        servers.get(SERVERS - 1).pause();
      }
    },
    DEAD("two dead") {
      @Override
      void befall(List<RedisServer> servers) {
        servers.get(SERVERS - 1).kill();
        servers.get(SERVERS - 2).kill();
      }
    };

    final String label;

    Nodes(String label) {
      this.label = label;
    }

    abstract void befall(List<RedisServer> servers);
  }

  @Override
  public String name() {
    return "quorum";
  }

  @Override
  public String about() {
    return "RedLock on 5 servers, all well, one paused, two dead; the floor is one node's lock";
  }

  @Override
  public Figure figure() {
    return new Figure("p50_us", "lock and unlock, median, µs");
  }

  /** A cycle does the work of five, and there are fewer of them in a second. */
  @Override
  public Duration warmUp(Settings settings) {
    return settings.quick() ? settings.warmUp() : settings.warmUp().multipliedBy(4);
  }

  @Override
  public Rig open(Settings settings) throws InterruptedException {
    Hall hall = new Hall();
    try {
      hall.fill();
      return hall;
    } catch (InterruptedException | RuntimeException | Error e) {
      hall.close();
      throw e;
    }
  }

  private static final class Hall implements Rig {
    private final List<RedisServer> servers = new ArrayList<>();
    private final List<Worker> workers = new ArrayList<>();
    private final List<Workload> contests = new ArrayList<>();

    void fill() throws InterruptedException {
      RedisServer single = server();
      WorkerTeam oneNode =
          team(LockLibrary.MORTISE, LockKind.PLAIN, List.of(single), List.of(single), "one node");
      for (Nodes nodes : Nodes.values()) {
        List<RedisServer> five = Stream.generate(this::server).limit(SERVERS).toList();
        // The others may not be able to answer.
        List<RedisServer> counted = five.subList(0, nodes == Nodes.WELL ? SERVERS : SERVERS - 2);
        Map<LockLibrary, Workload.Entrant> entrants = new EnumMap<>(LockLibrary.class);
        for (LockLibrary subject : List.of(LockLibrary.MORTISE, LockLibrary.REDISSON)) {
          entrants.put(subject, team(subject, LockKind.QUORUM, five, counted, nodes.label));
        }
        entrants.put(LockLibrary.FLOOR, oneNode);
        for (Workload.Entrant entrant : entrants.values()) {
          entrant.run(FIRST_CYCLES); // who has never seen a server may refuse to begin
        }
        nodes.befall(five);
        contests.add(
            new Workload(
                nodes.label,
                Map.of("lock", LockKind.QUORUM.label(), "nodes", nodes.label),
                1,
                1,
                entrants,
                nodes == Nodes.WELL ? null : Nodes.WELL.label));
      }
    }

    private RedisServer server() {
      RedisServer server = RedisServer.start();
      servers.add(server);
      return server;
    }

    private WorkerTeam team(
        LockLibrary subject,
        LockKind kind,
        List<RedisServer> on,
        List<RedisServer> counted,
        String label)
        throws InterruptedException {
      Worker worker = Worker.start(subject, on.stream().map(RedisServer::uri).toList());
      workers.add(worker);
      worker.awaitReady();
      return new WorkerTeam(
          List.of(worker),
          WorkerTask.own(label, kind, List.of(subject.label() + ":quorum"), 1),
          counted);
    }

    @Override
    public List<Workload> contests() {
      return List.copyOf(contests);
    }

    @Override
    public void close() {
      workers.forEach(Worker::close);
      servers.forEach(RedisServer::close);
    }
  }
}
