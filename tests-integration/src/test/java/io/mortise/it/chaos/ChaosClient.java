package io.mortise.it.chaos;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.core.LockClient;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.fencing.FencedStore;
import io.mortise.it.chaos.CurrentTask.Task;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.PauseRecorder;
import io.mortise.it.support.TestThreads;
import io.mortise.multilock.MultiLock;
import io.mortise.redlock.RedLock;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.HoldLog;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.commons.pool2.impl.GenericObjectPool;
import org.awaitility.Awaitility;
import redis.clients.jedis.Connection;

/**
 * A child JVM whose threads contend for locks ({@link ContendingThread}). It reads lines:
 *
 * <ul>
 *   <li>{@code task <name> <think time>}: all threads contend for the lock of that name;
 *   <li>{@code rest}: no thread does; the process prints {@code resting} when all have left the
 *       section;
 *   <li>{@code force}: the lock is forced several times;
 *   <li>{@code reopen}: the clients are closed, and others take their place;
 *   <li>{@code fill <ms>}: the heap is full for that time; not if the next command has come: a busy
 *       machine takes seconds for it, and the process would come to rest too late;
 *   <li>{@code roll <name> <ms>}: each thread asks for the lock of that name, and has to get it in
 *       that time; the process prints {@code entered} and the longest wait in ms, or {@code entered
 *       too late};
 *   <li>{@code sample}: the process uses some fresh names, and prints what it has in use ({@link
 *       ProcessSample});
 *   <li>{@code stop}: its clients come to have nothing in use, and are closed; the process prints
 *       {@code left <what>} for each thing that remains in this JVM, and {@code done}.
 * </ul>
 */
final class ChaosClient {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private final ClientLocks locks;
  private final int threads;
  private final Random random;
  private final CurrentTask currentTask = new CurrentTask();
  private final InitializedClasses initializedClasses =
      new InitializedClasses(
          LockClient.class,
          WorkerPool.class,
          RedisFairLock.class,
          RedisReadWriteLock.class,
          MultiLock.class,
          RedLock.class,
          FencedStore.class,
          Connection.class,
          GenericObjectPool.class);

  private ChaosClient(ClientLocks locks, int threads, Random random) {
    this.locks = locks;
    this.threads = threads;
    this.random = random;
  }

  /**
   * Arguments: family, options, URIs of the servers, URI of the guarded server, directory of the
   * logs, lease in ms, threads, {@code maxHandOffs}, whether on the caller's Jedis clients, seed.
   */
  public static void main(String[] arguments) throws Exception {
    Set<Thread> before = Thread.getAllStackTraces().keySet();
    boolean onCallersJedis = Boolean.parseBoolean(arguments[8]);
    ClientLocks locks =
        new ClientLocks(
            Family.valueOf(arguments[0]),
            ClientOptions.valueOf(arguments[1]),
            Duration.ofMillis(Long.parseLong(arguments[5])),
            Integer.parseInt(arguments[7]),
            List.of(arguments[2].split(" ", -1)),
            onCallersJedis);
    int threads = Integer.parseInt(arguments[6]);
    Random random = new Random(Long.parseLong(arguments[9]));
    Path directory = Path.of(arguments[4]);
    try (HoldObserver observer = new HoldObserver(directory)) {
      if (onCallersJedis) {
        observer.onCallersJedis();
      }
      PauseRecorder pauses = PauseRecorder.start(observer::paused);
      try {
        new ChaosClient(locks, threads, random).run(observer, directory, arguments[3]);
      } finally {
        pauses.close();
      }
    }
    printIfLeft(() -> awaitNoThreads(before));
    System.out.println("done");
  }

  private void run(HoldObserver observer, Path directory, String guarded) throws Exception {
    try (HoldLog holdLog = HoldLog.open(directory);
        TestThreads contending = new TestThreads()) {
      for (int i = 0; i < threads; i++) {
        String name = "thread-" + i;
        Random ofThread = new Random(random.nextLong());
        contending.start(
            () -> {
              try (WriteLog writeLog = new WriteLog(guarded)) {
                new ContendingThread(name, locks, writeLog, holdLog, observer, ofThread)
                    .run(currentTask);
              }
            });
      }
      System.out.println("ready");
      readCommands();
      contending.join(LIMIT);
      locks.close().forEach(thing -> System.out.println("left " + thing));
    }
  }

  private void readCommands() throws IOException, InterruptedException {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    String name = "";
    for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
      String[] words = line.split(" ", -1);
      switch (words[0]) {
        case "task" -> {
          name = words[1];
          currentTask.set(new Task(name, ThinkTime.valueOf(words[2])));
        }
        case "rest" -> {
          currentTask.clear();
          System.out.println("resting");
        }
        case "force" -> locks.force(name, currentTask, random);
        case "reopen" ->
            locks.reopen().forEach(client -> printIfLeft(() -> ClientResources.awaitNone(client)));
        case "fill" -> {
          if (in.ready()) {
            System.out.println("not filled: the next command has come");
          } else {
            fill(Duration.ofMillis(Long.parseLong(words[1])));
          }
        }
        case "roll" -> {
          Duration bound = Duration.ofMillis(Long.parseLong(words[2]));
          Optional<Long> longest = RollCall.call(locks.entries(words[1]), threads, bound);
          System.out.println("entered " + longest.map(String::valueOf).orElse("too late"));
        }
        case "sample" -> {
          locks.useFreshNames(random);
          System.out.println(ProcessSample.take());
        }
        default -> throw new IllegalArgumentException("unknown command: " + line);
      }
    }
    currentTask.stop();
  }

  private void fill(Duration time) throws IOException {
    locks.heapWasFull();
    initializedClasses.ensure();
    System.out.println("the heap was full " + FullHeap.keep(time) + " times");
  }

  private static void printIfLeft(Runnable check) {
    Left.of(check).ifPresent(thing -> System.out.println("left " + thing));
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
