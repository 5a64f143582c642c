package io.mortise.cli;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.cli.demo.Chapter;
import io.mortise.cli.demo.ChapterReport;
import io.mortise.cli.demo.Chapters;
import io.mortise.cli.demo.Demo;
import io.mortise.cli.demo.DemoReport;
import io.mortise.cli.demo.DemoSettings;
import io.mortise.cli.demo.SilentProgress;
import io.mortise.cli.report.TerminalSvg;
import io.mortise.cli.report.TimelinePicture;
import io.mortise.cli.timeline.Timeline;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The pictures in the README: what {@code inspect --watch} prints of real locks, with made-up hosts
 * and a planted hold of Redisson; and the time line of a chapter of the demo. {@code bin/pictures}
 * writes them into {@code docs}.
 */
@Timeout(60)
class PicturesTest {
  private static final String FOLDER_PROPERTY = "mortise.pictures";
  private static final String REDISSON = "9f8e7d6c-1a2b-4c3d-8e9f-0123456789ab:77";

  @Test
  void aWatchShowsAFairLockAReadWriteLockAndAHoldOfRedisson(@TempDir Path scratch)
      throws Exception {
    try (RedisServer server = RedisServer.start();
        LockClient one = client(server, "web-1", 4711);
        LockClient two = client(server, "web-2", 4712);
        LockClient three = client(server, "batch-1", 318)) {
      server.command("HSET", "billing:7", REDISSON, "1");
      server.command("PEXPIRE", "billing:7", "27400");
      RedisFairLock orders = new RedisFairLock(one, "orders:42");
      List<CompletableFuture<Optional<Lease>>> waiters = new ArrayList<>();
      try (Lease held = orders.acquire();
          Lease reader = new RedisReadWriteLock(two, "catalogue").readLock().acquire();
          Lease other = new RedisReadWriteLock(three, "catalogue").readLock().acquire()) {
        assertTrue(held.isValid() && reader.isValid() && other.isValid());
        waiters.add(wait(new RedisReadWriteLock(one, "catalogue").writeLock()::acquireAsync));
        for (LockClient waiting : List.of(two, three, two, one)) {
          long before = orders.queueLength();
          waiters.add(wait(new RedisFairLock(waiting, "orders:42")::acquireAsync));
          await().until(() -> orders.queueLength() == before + 1);
        }
        await().until(() -> new RedisLock(two, "catalogue").inspect().waiters().size() == 1);

        List<String> lines = watch(server);

        assertEquals(14, lines.size(), lines::toString);
        String picture =
            TerminalSvg.of("mortise inspect --watch", "mortise inspect --watch", lines);
        assertTrue(picture.contains("Redisson 9f8e7d6c"), picture);
        assertTrue(picture.contains("waits 4"), picture);
        write(picture, "inspect-watch.svg", scratch);
        waiters.forEach(waiter -> waiter.cancel(true));
      }
    }
  }

  @Test
  void theDemoShowsAPausedHolderWhoseWriteIsRefused(@TempDir Path scratch) throws Exception {
    Chapter pause = Chapters.named("pause");
    DemoSettings settings = new DemoSettings(3, 3, 200, 600, Duration.ofSeconds(2));
    DemoReport report =
        new Demo("test", settings, Optional.empty(), chapter -> new SilentProgress())
            .play(List.of(pause));

    ChapterReport played = report.chapters().get(0);
    assertTrue(report.ok(), played.outcome()::explanation);
    Timeline whole = (Timeline) played.outcome().drawings().get(0);
    String picture = TimelinePicture.of(whole, played.title());
    for (String shown :
        List.of(">worker 3<", ">asleep: ", ">late write refused<", ">runs again<")) {
      assertTrue(picture.contains(shown), shown);
    }
    write(picture, "demo-timeline.svg", scratch);
  }

  private static void write(String picture, String name, Path scratch) throws IOException {
    Path folder = Path.of(System.getProperty(FOLDER_PROPERTY, scratch.toString()));
    Files.createDirectories(folder);
    Files.writeString(folder.resolve(name), picture);
  }

  /**
   * A client with the record of another host: that of this machine would be different each time.
   */
  private static LockClient client(RedisServer server, String host, int process) {
    LockClient client = LockClient.create(server.uri());
    server.command(
        "SET", "mortise_client:" + client.id(), "host=%s\npid=%d\n".formatted(host, process));
    return client;
  }

  private static CompletableFuture<Optional<Lease>> wait(
      Function<Duration, CompletionStage<Optional<Lease>>> lock) {
    return lock.apply(Duration.ofSeconds(40)).toCompletableFuture();
  }

  /** Returns the first block that the command prints. */
  private static List<String> watch(RedisServer server) throws Exception {
    RunningCommand command =
        RunningCommand.start("inspect", "--redis", server.uri(), "--watch", "--color", "always");
    await().until(() -> command.out().contains("\n\n"));
    assertEquals(0, command.interrupt());
    return command.out().lines().takeWhile(line -> !line.isEmpty()).toList();
  }
}
