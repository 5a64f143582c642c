package io.mortise.it.fairlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.TwoClients;
import io.mortise.testkit.JavaProcess;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Long queues: they drain in order, and an attempt costs the same at every place. */
class FairCrowdTest {
  private static final int PROCESSES = 4;
  private static final int WAITERS = 1_000;

  private static final int ROUNDS = 10;
  private static final int CALLS = 20;
  private static final int FAR = 100_000;
  private static final int AT_ONCE = 5_000;

  /** Scans every place, and finds nothing. */
  private static final String SCAN = "return redis.call('LPOS', KEYS[1], 'nobody')";

  /** An attempt and a release for each, and some heartbeats. */
  private static final int MOST_SCRIPTS_A_WAITER = 3;

  @RegisterExtension static final TwoClients clients = new TwoClients();

  @RegisterExtension
  final ServedOrder order = new ServedOrder(clients, RedisFairLock.DEFAULT_WAITER_TIMEOUT);

  @Test
  @Timeout(90)
  void aThousandWaitersOfFourProcessesAreServedInOrder() throws Exception {
    List<JavaProcess> children = new ArrayList<>();
    RedisFairLock lock = order.here();
    try {
      for (int i = 0; i < PROCESSES; i++) {
        children.add(FairProcess.start(order));
      }
      lock.lock();
      String[] all = new String[WAITERS];
      long start = System.nanoTime();
      for (int i = 0; i < WAITERS; i++) {
        all[i] = "w" + i;
        order.queue(all[i], children.get(i % PROCESSES));
      }
      double queueing = (System.nanoTime() - start) / 1e9;
      assertEquals(WAITERS, lock.queueLength());

      order.server().resetStats();
      start = System.nanoTime();
      lock.unlock();
      order.awaitServed(Duration.ofSeconds(60), all);
      double draining = (System.nanoTime() - start) / 1e9;
      order.awaitNothingLeft();
      Map<String, Long> stats = order.server().commandStats();
      System.out.printf(
          "%d waiters of %d processes: queued in %.1f s, drained in %.1f s; %s%n",
          WAITERS, PROCESSES, queueing, draining, stats);
      // A release notifies one; a batch of heartbeats in between may notify it once more.
      assertTrue(stats.get("publish") >= WAITERS, stats::toString);
      assertTrue(stats.get("publish") <= stats.get("evalsha") - WAITERS, stats::toString);
      assertTrue(stats.get("evalsha") <= MOST_SCRIPTS_A_WAITER * WAITERS, stats::toString);
    } finally {
      children.forEach(JavaProcess::close);
    }
  }

  /**
   * The commands inside the script are counted. One of them could still scan all places, so the
   * time that Redis takes is compared with that of a command that does, on the same queue.
   */
  @Test
  @Timeout(60)
  void anAttemptCostsTheSameAtPlaceThreeAndAtPlaceAHundredThousand() {
    try (RedisServer server = RedisServer.start()) {
      Cost[] near = costs(server, 3);
      Cost[] far = costs(server, FAR);
      Cost scan = far[near.length - 1];
      System.out.printf("an attempt at place 3: %s, at %d: %s%n", List.of(near), FAR, List.of(far));
      for (int i = 0; i < near.length - 1; i++) {
        assertEquals(near[i].commands, far[i].commands);
        assertTrue(far[i].micros <= near[i].micros + scan.micros / 2, far[i] + ", and a " + scan);
      }
    }
  }

  private record Cost(String what, long commands, double micros) {}

  private static Cost[] costs(RedisServer server, int place) {
    ScriptedQueue fair = new ScriptedQueue(server);
    fair.heldBy("X", 60_000);
    List<String> before = new ArrayList<>();
    for (int i = 1; i < place; i++) {
      before.add("A" + i);
    }
    server.command("DEL", fair.list);
    long now = fair.now();
    for (int done = 0; done < before.size(); done += AT_ONCE) {
      List<String> some = before.subList(done, Math.min(done + AT_ONCE, before.size()));
      List<String> push = new ArrayList<>(List.of("RPUSH", fair.list));
      List<String> add = new ArrayList<>(List.of("ZADD", fair.deadlines));
      for (String who : some) {
        push.add(ScriptedQueue.holder(who));
        add.addAll(List.of(Long.toString(now + 60_000), ScriptedQueue.holder(who)));
      }
      server.command(push.toArray(String[]::new));
      server.command(add.toArray(String[]::new));
    }
    return new Cost[] {
      cost(server, "join", i -> fair.acquire("new" + i, 60_000)),
      cost(server, "again", i -> fair.acquire("new" + i, 60_000)),
      cost(server, "no wait", i -> fair.acquire("other", 0)),
      cost(server, "heartbeat", i -> fair.heartbeat(60_000, "new" + i)),
      cost(server, "scan", i -> server.command("EVAL", SCAN, "1", fair.list)),
    };
  }

  private interface Step {
    void run(int i);
  }

  /** The best of some rounds, because the machine is shared. */
  private static Cost cost(RedisServer server, String what, Step step) {
    double best = Double.MAX_VALUE;
    long commands = 0;
    for (int round = 0; round < ROUNDS; round++) {
      server.resetStats();
      for (int i = 0; i < CALLS; i++) {
        step.run(round * CALLS + i);
      }
      for (String row : server.command("INFO", "commandstats").toString().split("\r\n", -1)) {
        if (row.startsWith("cmdstat_eval:")) {
          String micros = row.replaceAll(".*usec_per_call=([0-9.]+).*", "$1");
          best = Math.min(best, Double.parseDouble(micros));
        }
      }
      commands = 0;
      for (Map.Entry<String, Long> each : server.commandStats().entrySet()) {
        boolean connecting = each.getKey().startsWith("client") || each.getKey().equals("hello");
        commands += connecting ? 0 : each.getValue();
      }
    }
    return new Cost(what, commands / CALLS, best);
  }
}
