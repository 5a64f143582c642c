package io.mortise.it.chaos;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.it.chaos.CurrentTask.Task;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.TestThreads;
import io.mortise.testkit.HoldLog;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * A child JVM whose threads contend for locks, as {@link Worker} says. It reads lines:
 *
 * <ul>
 *   <li>{@code task <name> <pace>}: all contend for the lock of that name;
 *   <li>{@code rest}: nobody does; it says {@code resting} when all are out of the section;
 *   <li>{@code stop}: its clients have nothing in hand any more and are closed; it says {@code left
 *       <what>} of each thing that stays behind in this JVM, and {@code done}.
 * </ul>
 */
final class ChaosClient {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private ChaosClient() {}

  /**
   * Arguments: family, URIs of the servers, URI of what is guarded, directory of the logs, lease in
   * ms, threads, how often a hold may pass on, seed.
   */
  public static void main(String[] arguments) throws Exception {
    Set<Thread> before = Thread.getAllStackTraces().keySet();
    Family family = Family.valueOf(arguments[0]);
    Path directory = Path.of(arguments[3]);
    Random random = new Random(Long.parseLong(arguments[7]));
    CurrentTask board = new CurrentTask();
    List<LockClient> clients =
        clients(
            List.of(arguments[1].split(" ", -1)),
            Long.parseLong(arguments[4]),
            Integer.parseInt(arguments[6]));
    try (WriteLog ledger = new WriteLog(arguments[2]);
        HoldLog log = HoldLog.open(directory);
        HoldObserver witness = new HoldObserver(directory);
        TestThreads crew = new TestThreads()) {
      IntStream.range(0, Integer.parseInt(arguments[5]))
          .mapToObj(
              i ->
                  new Worker(
                      "thread-" + i,
                      family,
                      clients,
                      ledger,
                      log,
                      witness,
                      new Random(random.nextLong())))
          .forEach(worker -> crew.start(() -> worker.work(board)));
      System.out.println("ready");
      obey(board);
      crew.join(PATIENCE);
      clients.forEach(client -> orComplain(() -> ClientResources.awaitNone(client)));
      clients.forEach(LockClient::close);
    }
    orComplain(() -> awaitNoThreads(before));
    System.out.println("done");
  }

  private static List<LockClient> clients(List<String> uris, long leaseMillis, int handOvers) {
    LockOptions options =
        LockOptions.builder()
            .lease(Duration.ofMillis(leaseMillis))
            .commandTimeout(Duration.ofSeconds(1))
            .subscriptionLinger(Duration.ofSeconds(1))
            .maxHandOffs(handOvers)
            .build();
    List<LockClient> clients = new ArrayList<>();
    uris.forEach(uri -> clients.add(LockClient.create(uri, options)));
    return clients;
  }

  private static void obey(CurrentTask board) throws IOException, InterruptedException {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
      String[] words = line.split(" ", -1);
      if (words[0].equals("task")) {
        board.post(new Task(words[1], ThinkTime.valueOf(words[2])));
      } else {
        board.rest();
        System.out.println("resting");
      }
    }
    board.stop();
  }

  private static void orComplain(Runnable check) {
    try {
      check.run();
    } catch (ConditionTimeoutException e) {
      System.out.println("left " + e.getMessage().replace('\n', ' '));
    }
  }

  /** All threads end that were not there before: the clients', and what Jedis runs for them. */
  private static void awaitNoThreads(Set<Thread> before) {
    Awaitility.await()
        .pollInSameThread()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> {
              Set<Thread> now = new HashSet<>(Thread.getAllStackTraces().keySet());
              now.removeAll(before);
              now.remove(Thread.currentThread());
              // The JVM's one cleaner for the leases of all clients (docs/decisions/031).
              now.removeIf(thread -> thread.getName().startsWith("Cleaner-"));
              if (!now.isEmpty()) {
                throw new AssertionError(
                    now.stream().map(Thread::getName).sorted().collect(Collectors.joining(", ")));
              }
            });
  }
}
