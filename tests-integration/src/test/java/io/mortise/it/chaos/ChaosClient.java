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
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * A child JVM whose threads contend for locks ({@link ContendingThread}). It reads lines:
 *
 * <ul>
 *   <li>{@code task <name> <think time>}: all threads contend for the lock of that name;
 *   <li>{@code rest}: no thread does; the process prints {@code resting} when all have left the
 *       section;
 *   <li>{@code stop}: its clients come to have nothing in use, and are closed; the process prints
 *       {@code left <what>} for each thing that remains in this JVM, and {@code done}.
 * </ul>
 */
final class ChaosClient {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private ChaosClient() {}

  /**
   * Arguments: family, URIs of the servers, URI of the guarded server, directory of the logs, lease
   * in ms, threads, {@code maxHandOffs}, seed.
   */
  public static void main(String[] arguments) throws Exception {
    Set<Thread> before = Thread.getAllStackTraces().keySet();
    Family family = Family.valueOf(arguments[0]);
    Path directory = Path.of(arguments[3]);
    Random random = new Random(Long.parseLong(arguments[7]));
    CurrentTask currentTask = new CurrentTask();
    LockOptions options =
        LockOptions.builder()
            .lease(Duration.ofMillis(Long.parseLong(arguments[4])))
            .commandTimeout(Duration.ofSeconds(1))
            .subscriptionLinger(Duration.ofSeconds(1))
            .maxHandOffs(Integer.parseInt(arguments[6]))
            .build();
    List<LockClient> clients = new ArrayList<>();
    for (String uri : arguments[1].split(" ", -1)) {
      clients.add(LockClient.create(uri, options));
    }
    try (WriteLog writeLog = new WriteLog(arguments[2]);
        HoldLog holdLog = HoldLog.open(directory);
        HoldObserver observer = new HoldObserver(directory);
        TestThreads threads = new TestThreads()) {
      for (int i = 0; i < Integer.parseInt(arguments[5]); i++) {
        ContendingThread thread =
            new ContendingThread(
                "thread-" + i,
                family,
                clients,
                writeLog,
                holdLog,
                observer,
                new Random(random.nextLong()));
        threads.start(() -> thread.run(currentTask));
      }
      System.out.println("ready");
      readCommands(currentTask);
      threads.join(LIMIT);
      clients.forEach(client -> printIfLeft(() -> ClientResources.awaitNone(client)));
      clients.forEach(LockClient::close);
    }
    printIfLeft(() -> awaitNoThreads(before));
    System.out.println("done");
  }

  private static void readCommands(CurrentTask currentTask)
      throws IOException, InterruptedException {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
      String[] words = line.split(" ", -1);
      if (words[0].equals("task")) {
        currentTask.set(new Task(words[1], ThinkTime.valueOf(words[2])));
      } else {
        currentTask.clear();
        System.out.println("resting");
      }
    }
    currentTask.stop();
  }

  private static void printIfLeft(Runnable check) {
    try {
      check.run();
    } catch (ConditionTimeoutException e) {
      System.out.println("left " + e.getMessage().replace('\n', ' '));
    }
  }

  /** Waits until all later threads have ended: the clients', and those that Jedis runs for them. */
  private static void awaitNoThreads(Set<Thread> before) {
    Awaitility.await()
        .pollInSameThread()
        .atMost(LIMIT)
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
