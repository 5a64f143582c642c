package io.mortise.it.compositeprocesses;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.core.LeaseLostException;
import io.mortise.core.LockException;
import io.mortise.it.support.PauseRecorder;
import io.mortise.it.support.TestThreads;
import io.mortise.testkit.HoldLog;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A child JVM whose threads enter a section repeatedly, log their holds, and add one to the
 * counters that it guards. It reads lines:
 *
 * <ul>
 *   <li>{@code keep}: the next thread inside prints {@code keeping <token>} and stays;
 *   <li>{@code go}: that thread continues, prints {@code written} or {@code refused}, and leaves;
 *   <li>{@code stop}: all threads end, and it prints {@code done} and the counts of {@link
 *       ProcessTeam.Counts}.
 * </ul>
 *
 * <p>It prints {@code lost <reason>: <loss>} for each lost hold, {@code paused <ms>} for each long
 * pause, and {@code failed <error>} if the section could not be entered or a release could not be
 * confirmed.
 */
final class LoadProcess {
  private static final long LONG_PAUSE_MILLIS = 100;

  private final Section section;
  private final FencedCounters guarded;
  private final HoldLog log;
  private final AtomicBoolean keep = new AtomicBoolean();
  private final Semaphore go = new Semaphore(0);
  private final AtomicInteger written = new AtomicInteger();
  private final AtomicInteger refused = new AtomicInteger();
  private final AtomicInteger refusedThoughHeld = new AtomicInteger();
  private final AtomicInteger lost = new AtomicInteger();
  private final AtomicInteger failed = new AtomicInteger();
  private volatile boolean stopped;

  private LoadProcess(Section section, FencedCounters guarded, HoldLog log) {
    this.section = section;
    this.guarded = guarded;
    this.log = log;
  }

  /**
   * Arguments: locks, URIs, names, URI of what is guarded, directory of the log, lease, threads.
   */
  public static void main(String[] arguments) throws Exception {
    List<String> names = List.of(arguments[2].split(",", -1));
    Duration lease = Duration.ofMillis(Long.parseLong(arguments[5]));
    SectionLocks locks = SectionLocks.valueOf(arguments[0]);
    PauseRecorder.start(LoadProcess::paused); // for the life of the process
    try (Section section = locks.section(List.of(arguments[1].split(",", -1)), names, lease);
        FencedCounters guarded = new FencedCounters(arguments[3]);
        HoldLog log = HoldLog.open(Path.of(arguments[4]));
        TestThreads threads = new TestThreads()) {
      LoadProcess process = new LoadProcess(section, guarded, log);
      BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
      System.out.println("ready");
      in.readLine(); // "start"
      for (int thread = 0; thread < Integer.parseInt(arguments[6]); thread++) {
        String who = "thread-" + thread;
        threads.start(() -> process.work(who));
      }
      process.obey(in);
      threads.join(ProcessTeam.LIMIT);
      System.out.println(
          "done %s %s %s %s %s"
              .formatted(
                  process.written,
                  process.refused,
                  process.refusedThoughHeld,
                  process.lost,
                  process.failed));
    }
  }

  private static void paused(long fromNanos, long toNanos) {
    long millis = (toNanos - fromNanos) / 1_000_000;
    if (millis >= LONG_PAUSE_MILLIS) {
      System.out.println("paused " + millis);
    }
  }

  private void obey(BufferedReader in) throws Exception {
    for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
      if (line.equals("keep")) {
        keep.set(true);
      } else {
        go.release();
      }
    }
    stopped = true;
  }

  private void work(String who) throws InterruptedException {
    while (!stopped) {
      try {
        section.enter();
      } catch (LockException e) {
        failed.incrementAndGet();
        System.out.println("failed to enter: " + e);
        continue;
      }
      inside(who);
    }
  }

  private void inside(String who) throws InterruptedException {
    List<HoldLog.Hold> holds = new ArrayList<>();
    boolean all = true;
    try {
      Map<String, Long> tokens = section.tokens();
      tokens.forEach((name, token) -> holds.add(log.acquired(name, who, token)));
      boolean kept = keep.compareAndSet(true, false);
      if (kept) {
        System.out.println("keeping " + tokens.values().iterator().next());
        go.acquire();
      }
      for (Map.Entry<String, Long> each : tokens.entrySet()) {
        all &= guarded.addOne(each.getKey(), each.getValue());
      }
      (all ? written : refused).incrementAndGet();
      if (kept) {
        System.out.println(all ? "written" : "refused");
      }
    } finally {
      holds.forEach(HoldLog.Hold::released);
      boolean wasHeld = leave(holds);
      if (!all && wasHeld) {
        refusedThoughHeld.incrementAndGet();
      }
    }
  }

  /** Returns false if the lease was lost. */
  private boolean leave(List<HoldLog.Hold> holds) {
    try {
      section.leave();
    } catch (LeaseLostException e) {
      lost.incrementAndGet();
      holds.forEach(hold -> hold.lost(e.loss().atNanos()));
      System.out.println("lost " + e.loss().reason() + ": " + e.loss());
      return false;
    } catch (LockException e) {
      failed.incrementAndGet();
      System.out.println("failed to confirm: " + e);
    }
    return true;
  }
}
